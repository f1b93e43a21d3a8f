"""The kernel against losses written out in float64: small and large batches, kept and computed again."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from aninfonce import AnInfoNCE, InfoNCE, NTXent
from aninfonce.losses.kernel import half


def written_out(z0: Tensor, z1: Tensor, scale: Tensor) -> Tensor:
    """AnInfoNCE on points that are used as they are, with the other anchors as negatives."""
    a, p = z0 * scale.sqrt(), z1 * scale.sqrt()
    positive = -0.5 * (a - p).square().sum(dim=1)
    logits = -0.5 * (a[:, None] - a[None]).square().sum(dim=2)
    logits = logits.masked_fill(torch.eye(len(a), dtype=torch.bool), -torch.inf)
    return (torch.cat([positive[:, None], logits], dim=1).logsumexp(dim=1) - positive).mean()


def nt_xent(z0: Tensor, z1: Tensor, temperature: float) -> Tensor:
    """SimCLR's loss on both views, each against all others."""
    z = torch.nn.functional.normalize(torch.cat([z0, z1]), dim=1)
    logits = (z @ z.T / temperature).masked_fill(torch.eye(len(z), dtype=torch.bool), -torch.inf)
    partner = torch.arange(len(z)).roll(len(z0))
    return (logits.logsumexp(dim=1) - logits[torch.arange(len(z)), partner]).mean()


def pairs(n: int, d: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    z0 = torch.randn(n, d, generator=generator, dtype=torch.float64)
    return z0, z0 + 0.3 * torch.randn(n, d, generator=generator, dtype=torch.float64)


def value_and_slopes(loss, *views: Tensor) -> tuple[Tensor, ...]:
    leaves = [view.clone().requires_grad_() for view in views]
    value = loss(*leaves)
    return (value.detach().double(), *(g.double() for g in torch.autograd.grad(value, leaves)))


def relative(found: tuple[Tensor, ...], expected: tuple[Tensor, ...]) -> float:
    return max(
        float((f - e).norm() / e.norm().clamp_min(1e-300)) for f, e in zip(found, expected, strict=True)
    )


# Below and above where the whole matrix is taken at once; a number that no tile divides.
@pytest.mark.parametrize(("n", "d"), [(5, 3), (128, 64), (513, 10), (700, 130), (1100, 12)])
@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 2e-6)])
def test_values_and_gradients_are_those_of_the_loss_written_out(monkeypatch, n, d, kept, dtype, tolerance):
    if not kept:
        monkeypatch.setattr(half, "_CPU_KEPT", 0)
        monkeypatch.setattr(half, "_FEW_KEPT", 0)
    z0, z1 = (view / d**0.5 for view in pairs(n, d))
    scale = torch.linspace(1.0, 9.0, d, dtype=torch.float64)
    loss = AnInfoNCE(d, initial=scale.clone(), normalize=False).to(dtype)
    found = value_and_slopes(loss, z0.to(dtype), z1.to(dtype))
    assert relative(found, value_and_slopes(lambda a, b: written_out(a, b, scale), z0, z1)) < tolerance

    found = value_and_slopes(NTXent(temperature=0.5).to(dtype), z0.to(dtype), z1.to(dtype))
    assert relative(found, value_and_slopes(lambda a, b: nt_xent(a, b, 0.5), z0, z1)) < tolerance


@pytest.mark.parametrize("n", [64, 700])
@pytest.mark.parametrize("case", ["clusters", "outlier", "steep"])
def test_no_digits_are_lost_where_squares_are_large(n, case):
    """Squared lengths of 10⁸ leave nothing in float32 of differences near 1, if they are subtracted."""
    z0, z1 = pairs(n, 4)
    scale = torch.ones(4, dtype=torch.float64)
    if case == "clusters":
        far = torch.zeros_like(z0)
        far[::2] = 1e4
        z0, z1 = z0 + far, z1 + far
    elif case == "outlier":
        z0[0] += 1e6
        z1[0] += 1e6
    else:
        z0, z1 = (torch.nn.functional.normalize(view, dim=1) for view in (z0, z0 + 1e-4 * (z1 - z0)))
        scale = scale * 1e8
    # What float32 can hold of the points: only the loss is in question.
    z0, z1 = z0.float().double(), z1.float().double()
    loss = AnInfoNCE(4, initial=scale.float(), normalize=False)
    expected = value_and_slopes(lambda a, b: written_out(a, b, loss.concentration.detach().double()), z0, z1)
    assert relative(value_and_slopes(loss, z0.float(), z1.float()), expected) < 1e-4


def test_gradients_can_be_checked_and_asked_for_twice():
    z0, z1 = (view[:, :3].requires_grad_() for view in pairs(7, 3))
    for loss in (AnInfoNCE(3, normalize=False).double(), NTXent().double(), InfoNCE().double()):
        assert torch.autograd.gradcheck(loss, (z0, z1))
        value = loss(z0, z1)
        first = torch.autograd.grad(value, z0, retain_graph=True)[0]
        assert torch.equal(first, torch.autograd.grad(value, z0)[0])


def test_what_is_not_finite_is_named_by_its_argument():
    z0, z1 = (view.float() for view in pairs(600, 5))
    z1[3, 2] = torch.nan
    with pytest.raises(ValueError, match=r"`z1` must be finite, got NaN or infinity in 1 of 600 row"):
        AnInfoNCE(5)(z0, z1)
