import pytest
import torch

from aninfonce.alignment import fit_metric
from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.spaces import Sphere

TRUTH = torch.tensor([4.0, 9.0, 20.0, 45.0])


@pytest.fixture(scope="module")
def pairs():
    generator = torch.Generator().manual_seed(0)
    z = Uniform(Sphere(4)).sample(32_768, generator)
    return z, FisherBingham(z, TRUTH).sample(generator)


def test_diagonal_fit_finds_the_true_concentration(pairs):
    fit = fit_metric(*pairs, torch.ones(4) * 10, diagonal=True, block=512, iterations=40)
    # 32 768 pairs leave about 1 % of noise: 5 % is beyond any seed.
    assert (fit.matrix.diagonal() / TRUTH - 1).abs().max() < 0.05
    assert torch.equal(fit.matrix, torch.diag(fit.matrix.diagonal()))


def test_full_fit_finds_the_axes_of_a_rotated_embedding(pairs):
    rotation, _ = torch.linalg.qr(torch.randn(4, 4, generator=torch.Generator().manual_seed(1)))
    z, z_pos = pairs
    fit = fit_metric(z @ rotation, z_pos @ rotation, torch.ones(4) * 10, block=512, iterations=40)
    values, axes = torch.linalg.eigh(fit.matrix)
    assert (values / TRUTH - 1).abs().max() < 0.05
    aligned = (rotation.double() @ axes).abs()
    assert aligned.diagonal().min() > 0.99


def test_bad_input_is_named():
    z = torch.randn(100, 3)
    with pytest.raises(ValueError, match="at least one block of 1024 rows, got 100"):
        fit_metric(z, z, torch.ones(3))
    with pytest.raises(ValueError, match="`initial` must be above 0"):
        fit_metric(z, z, torch.zeros(3), block=50)


@pytest.mark.parametrize("diagonal", [True, False])
def test_fit_ends_where_the_loss_is_lowest(pairs, diagonal):
    z, z_pos = (x.double() for x in pairs)
    fit = fit_metric(z, z_pos, torch.ones(4) * 10, diagonal=diagonal, block=256, iterations=40)

    def loss(entries):
        matrix = torch.diag(entries) if diagonal else (entries + entries.T) / 2
        parts = []
        for a, p in zip(z.split(256), z_pos.split(256), strict=True):
            candidates = torch.where(torch.eye(256, dtype=torch.bool)[..., None], p[:, None], a[None])
            delta = candidates - a[:, None]
            logits = -0.5 * torch.einsum("ijk,kl,ijl->ij", delta, matrix, delta)
            parts.append((logits.logsumexp(1) - logits.diagonal()).mean())
        return torch.stack(parts).mean()

    found = (fit.matrix.diagonal() if diagonal else fit.matrix).clone().requires_grad_()
    value = loss(found)
    (slope,) = torch.autograd.grad(value, found)
    start = torch.full_like(found, 10.0) if diagonal else 10 * torch.eye(4, dtype=torch.float64)
    (at_start,) = torch.autograd.grad(loss(start.requires_grad_()), start)
    assert slope.abs().max() < 0.02 * at_start.abs().max()
    assert abs(value.item() - fit.loss) < 1e-3
