"""Distributions in flat space: uniform, products, truncated, projected."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aninfonce.distributions import GeneralizedNormal, Laplace, Normal, Projected, Truncated, Uniform
from aninfonce.spaces import Box, Euclidean, Sphere

from .sphere_quadrature import cell_probabilities, chi_square_p_value

FAMILIES = {
    "normal": (lambda loc, s: Normal(loc, s), lambda s: stats.norm(scale=s)),
    "laplace": (lambda loc, s: Laplace(loc, s), lambda s: stats.laplace(scale=s)),
    "gennorm3": (lambda loc, s: GeneralizedNormal(loc, s, 3.0), lambda s: stats.gennorm(3.0, scale=s)),
}
families = pytest.mark.parametrize(("build", "reference"), FAMILIES.values(), ids=FAMILIES)


@families
def test_product_draws_and_density(build, reference):
    loc = torch.full((20_000, 2), 0.7, dtype=torch.float64)
    law, truth = build(loc, 0.3), reference(0.3)
    x = law.sample(torch.Generator().manual_seed(0))
    for column in x.T:
        assert stats.kstest(column.numpy() - 0.7, truth.cdf).pvalue > 1e-4
    expected = truth.logpdf(x.numpy() - 0.7).sum(axis=1)
    assert np.allclose(law.log_prob(x), expected)
    assert np.allclose(law.cdf(x), truth.cdf(x.numpy() - 0.7))


@families
@pytest.mark.parametrize("scale", [0.05, 0.5, 20.0])  # inside, like and far wider than the box
@pytest.mark.parametrize("anchor", [0.0, 0.4, 1.0])
def test_truncated_draws_and_density(build, reference, scale, anchor):
    loc = torch.full((8_000, 1), anchor, dtype=torch.float64)
    law, truth = Truncated(build(loc, scale), Box(1)), reference(scale)
    x = law.sample(torch.Generator().manual_seed(0))
    low, high = truth.cdf(-anchor), truth.cdf(1 - anchor)
    assert stats.kstest(x[:, 0].numpy(), lambda v: (truth.cdf(v - anchor) - low) / (high - low)).pvalue > 1e-5
    expected = truth.logpdf(x.numpy()[:, 0] - anchor) - math.log(high - low)
    assert np.allclose(law.log_prob(x), expected)


def test_truncated_density_is_zero_outside():
    law = Truncated(Normal(torch.full((1, 2), 0.5), 0.1), Box(2))
    assert law.log_prob(torch.tensor([[1.2, 0.5]])).item() == -math.inf


@families
def test_projected_draws_match_the_radial_integral(build, reference):
    z = np.array([0.6, 0.0, 0.8])
    radii = np.linspace(2e-3, 3.0, 400)
    truth = reference(0.3)

    def log_density(x):
        total = np.zeros(x.shape[:-1])
        for r in radii:  # ∫ r² f(rx) dr
            total += r**2 * np.exp(truth.logpdf(r * x - z).sum(axis=-1))
        return np.log(total + 1e-300)

    law = Projected(build(torch.tensor(z).expand(50_000, -1), 0.3), Sphere(3))
    draws = law.sample(torch.Generator().manual_seed(0)).numpy()
    assert chi_square_p_value(draws, cell_probabilities(log_density, 6, 8)) > 1e-4
    with pytest.raises(NotImplementedError, match="Projected has no density"):
        law.log_prob(law.loc)


def test_uniform_on_sphere_and_box():
    sphere, box = Uniform(Sphere(3, radius=2.0)), Uniform(Box(2, -1.0, 3.0))
    on_sphere = sphere.sample(50_000, torch.Generator().manual_seed(0))
    even = cell_probabilities(lambda x: np.zeros(x.shape[:-1]))
    assert chi_square_p_value(on_sphere.numpy() / 2, even) > 1e-4
    in_box = box.sample(10_000, torch.Generator().manual_seed(0))
    for column in in_box.T.numpy():
        assert stats.kstest(column, stats.uniform(-1, 4).cdf).pvalue > 1e-4
    assert sphere.log_prob(on_sphere[:1]).item() == pytest.approx(-math.log(16 * math.pi))
    assert box.log_prob(in_box[:1]).item() == pytest.approx(-math.log(16))
    assert box.log_prob(torch.tensor([[9.0, 0.0]])).item() == -math.inf


@settings(max_examples=40, deadline=None)
@given(
    family=st.sampled_from(sorted(FAMILIES)),
    scale=st.floats(1e-3, 1e3),
    low=st.floats(-10, 10),
    width=st.floats(0.01, 100),
    seed=st.integers(0, 2**31),
)
def test_truncated_draws_stay_in_the_box_and_are_reproducible(family, scale, low, width, seed):
    box = Box(3, low, low + width)
    loc = Uniform(box).sample(20, torch.Generator().manual_seed(seed)).clamp(box.low, box.high)
    law = Truncated(FAMILIES[family][0](loc, scale), box)
    first, second = (law.sample(torch.Generator().manual_seed(seed)) for _ in range(2))
    assert torch.equal(first, second)
    assert box.contains(first).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Normal(torch.zeros(3), 1.0), r"`loc` must be a floating-point tensor of shape \(N, d\)"),
        (lambda: Normal(torch.zeros(3, 2), 0.0), "`scale` must be a finite number above 0, got 0"),
        (lambda: GeneralizedNormal(torch.zeros(3, 2), 1.0, -1.0), "`shape` must be a finite number above 0"),
        (lambda: Truncated(Normal(torch.full((3, 2), 7.0), 1.0), Box(2)), "`base.loc` must lie in Box"),
        (lambda: Truncated(Uniform(Box(2)), Box(2)), "`base` must be a Normal"),
        (lambda: Projected(Normal(torch.zeros(3, 2), 1.0), Sphere(3)), "`base` must have 3 columns"),
        (lambda: Uniform(Euclidean(3)), "`space` must be a Sphere or a Box"),
        (lambda: Uniform(Sphere(3)).sample(0), "`n` must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
