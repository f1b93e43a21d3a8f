"""Λ̂ by the likelihood of positives given anchors, and when it takes the place of the contrastive fit."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from aninfonce.alignment.closing import Closed, close
from aninfonce.alignment.likelihood import fit_likelihood, flat_loss, metric_loss, step_moments
from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.encoders import SphereHead
from aninfonce.encoders.embedding import Embedding, identity_linear
from aninfonce.losses import AnInfoNCE
from aninfonce.processes import DataGeneratingProcess
from aninfonce.recipe import Closing
from aninfonce.sources.as_source import as_source
from aninfonce.spaces import Sphere


def draw(concentration: torch.Tensor, n: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    z = Uniform(Sphere(len(concentration))).sample(n, g)
    return z, FisherBingham(z, concentration).sample(g)


@pytest.mark.parametrize(
    "concentration",
    [torch.full((20,), 75.0), torch.linspace(20.0, 200.0, 10), torch.tensor([2e3, 2e4, 2e5])],
    ids=["equal", "tenfold", "small steps"],
)
def test_the_truth_is_found(concentration: torch.Tensor) -> None:
    """Each log Λ̂ has a standard error of √(2/N)/√(1 − 1/d) or a little more.

    Five of these, and the half per cent of the saddlepoint: a false alarm in 1e5 runs.
    """
    n, d = 16_384, len(concentration)
    found = fit_likelihood(*draw(concentration, n))
    error = math.sqrt(2 / n / (1 - 1 / d))
    assert found.dtype == torch.float64
    assert bool(((found / concentration).log().abs() < 5 * error + 0.006).all()), found


def test_the_slope_is_zero_at_the_exact_optimum() -> None:
    """The exact normaliser agrees that no small change of all Λ̂ raises the likelihood."""
    z, positives = draw(torch.linspace(20.0, 200.0, 6), 2048)
    found = fit_likelihood(z, positives)

    def log_likelihood(factor: float) -> float:
        law = FisherBingham(z.double(), found * factor)
        return float((law.log_kernel(positives.double()) - law.log_normalizer()).mean())

    best = log_likelihood(1.0)
    assert best > log_likelihood(0.95)
    assert best > log_likelihood(1.05)


def test_lengths_do_not_count() -> None:
    z, positives = draw(torch.tensor([50.0, 100.0, 200.0]), 2000)
    found = fit_likelihood(z, positives)
    assert torch.allclose(fit_likelihood(3 * z, 0.5 * positives), found, rtol=1e-4)


def test_moments_find_the_axes() -> None:
    """Turned pairs of different Λ: eigenvectors of the steps' moments are the turn.

    An angle between axes has a standard error below √(ab)/|a−b|/√N, a and b their variances: 0.01 here. The
    bound is ten of these.
    """
    z, positives = draw(torch.tensor([100.0, 300.0, 900.0, 2700.0]), 16_384)
    turn = torch.linalg.qr(torch.randn(4, 4, generator=torch.Generator().manual_seed(1))).Q
    _, axes = torch.linalg.eigh(step_moments(z @ turn.T, positives @ turn.T))
    overlap = (turn.double().T @ axes).abs()
    assert bool((overlap.max(dim=0).values > 0.995).all())


def closed(concentration: torch.Tensor) -> Closed:
    d = len(concentration)
    last = identity_linear(d)
    embedding = Embedding(nn.Sequential(last), SphereHead())
    loss = AnInfoNCE(d, initial=concentration.clone(), normalize=False)
    settings = Closing(pairs=8192, concentration_pairs=8192, block=512)
    sphere = Sphere(d)
    world = DataGeneratingProcess(sphere, Uniform(sphere), lambda z: FisherBingham(z, concentration))
    return close(embedding, last, loss, as_source(world, 3), settings, torch.Generator().manual_seed(4))


def test_few_mistaken_positives_call_for_the_likelihood() -> None:
    """All of 20 Λ̂ within 10 %: standard errors are 1.6 %, a false alarm in 1e7 runs."""
    concentration = torch.full((20,), 75.0)
    found = closed(concentration)
    assert found.by_likelihood
    assert found.loss < 0.1
    assert bool(((found.concentration / 75 - 1).abs() < 0.1).all())


def test_ordinary_pairs_keep_the_contrastive_fit() -> None:
    assert not closed(torch.tensor([5.0, 5.0, 25.0, 25.0])).by_likelihood


def test_flat_loss_is_near_that_of_the_truth() -> None:
    concentration = torch.full((10,), 25.0)
    z, positives = draw(concentration, 8192)
    flat = flat_loss(z, positives, step_moments(z, positives), block=512)
    truth = metric_loss(z, positives, torch.diag(concentration), block=512)
    assert 0.9 < flat / truth < 1.1


@pytest.mark.parametrize("positives", [torch.ones(5, 3), torch.ones(4, 2)])
def test_pairs_must_match(positives: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="`positives`"):
        fit_likelihood(torch.ones(4, 3), positives)
