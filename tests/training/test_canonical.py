"""The last layer set anew to what pairs share most: folds are pulled apart."""

import pytest
import torch
from torch import nn

from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.encoders import SphereHead
from aninfonce.metrics import linear_r2
from aninfonce.spaces import Sphere
from aninfonce.training import fit
from aninfonce.training.canonical import canonical_directions, renew_last_layer
from aninfonce.training.data import open_data
from aninfonce.training.model import Embedding
from tests.training.small import small_config


class Folding(nn.Module):
    """Features that hold every latent and the square of each, the squares twice as large."""

    def forward(self, z):
        return torch.cat([z, 2 * z.square()], dim=1)


def draw(concentration, n=8192):
    g = torch.Generator().manual_seed(0)
    z = Uniform(Sphere(len(concentration))).sample(n, g)
    return z, FisherBingham(z, concentration).sample(g)


def folded(d):
    """An embedding that has only the square of its first latent."""
    last = nn.Linear(2 * d, d)
    with torch.no_grad():
        last.weight.zero_()
        last.bias.zero_()
        last.weight[:, :d] = torch.eye(d)
        last.weight[0, 0], last.weight[0, d] = 0.0, 1.0
    return Embedding(nn.Sequential(Folding(), last), SphereHead()), last


def test_a_fold_is_pulled_apart():
    """R² of a lost latent is 0 before. After, 8192 pairs leave about 1e-3 of the squares in it."""
    z, positives = draw(torch.full((6,), 50.0))
    embedding, last = folded(6)
    assert linear_r2(z, embedding(z).detach()).per_dimension[0] < 0.1
    size = last.weight.norm().item()
    found = renew_last_layer(embedding, last, z, positives)
    assert found.holds_latents
    assert min(linear_r2(z, embedding(z).detach()).per_dimension) > 0.98
    assert last.weight.norm().item() == pytest.approx(size, rel=1e-5)


def test_different_concentrations_are_left_alone():
    """A square of a latent that pairs share almost whole correlates more than one they hardly share."""
    z, positives = draw(torch.tensor([5.0, 5.0, 5.0, 500.0, 500.0, 500.0]))
    embedding, last = folded(6)
    before = last.weight.clone()
    assert not renew_last_layer(embedding, last, z, positives).holds_latents
    assert torch.equal(last.weight, before)


def test_directions_have_variance_one_and_fall():
    z, positives = draw(torch.tensor([20.0, 40.0, 80.0, 160.0]))
    found = canonical_directions(z, positives, 3)
    columns = (z.double() - found.centre) @ found.matrix.T
    assert torch.allclose(columns.var(dim=0), torch.ones(3, dtype=torch.float64), atol=0.05)
    assert bool((found.correlations.diff() < 0).all())


def test_too_many_directions_are_refused():
    with pytest.raises(ValueError, match="`dim` must be at most the 3 columns"):
        canonical_directions(torch.randn(50, 3), torch.randn(50, 3), 4)


def test_a_run_renews_at_its_shares(monkeypatch):
    """Before the steps of both shares and no other."""
    seen = []
    monkeypatch.setattr("aninfonce.training.loop.renew", lambda trainer: seen.append(trainer.step))
    config = small_config(
        recipe={"steps": 10, "close": None, "unfold": None, "renew": (0.3, 0.6)}, checkpoint_every=0
    )
    fit(open_data(config.data), config)
    assert seen == [3, 6]
