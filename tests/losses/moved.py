"""What tests of losses share: numbers, and a loss whose parameters are not where they start."""

import copy

import torch


def draw(*shape, seed):
    """Normal numbers in double precision."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def moved(loss, by=0.3):
    """Bring a loss to double precision, and its parameters away from where they start."""
    loss = loss.double()
    with torch.no_grad():
        for number, parameter in enumerate(loss.parameters()):
            parameter += by * draw(*parameter.shape, seed=10 + number)
    return loss


def check_half_precision(loss, z0, z1):
    """Require that half precision is computed in float32, and gradients come back in half."""
    value = loss(z0, z1)
    assert value.dtype == torch.float32
    torch.testing.assert_close(value, loss(z0.float(), z1.float()))
    kept = copy.deepcopy(loss).to(z0.dtype)
    assert kept(z0, z1).dtype == torch.float32
    leaf = z0.clone().requires_grad_()
    loss(leaf, z1).backward()
    assert leaf.grad.dtype == z0.dtype
