import pytest
import torch

from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.spaces import Sphere
from aninfonce.training import fit_metric

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
