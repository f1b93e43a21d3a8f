import math

import numpy as np
import pytest
import torch
from scipy import special, stats

from aninfonce.distributions import Uniform, VonMisesFisher
from aninfonce.distributions._bessel import log_bessel_ratio
from aninfonce.spaces import Sphere

from .sphere_quadrature import cell_probabilities, chi_square_p_value


@pytest.mark.parametrize("kappa", [0.0, 0.3, 5.0, 80.0])
def test_draws_match_quadrature_at_d_3(kappa):
    z = np.array([0.6, 0.0, 0.8])
    expected = cell_probabilities(lambda x: kappa * (x @ z))
    law = VonMisesFisher(torch.tensor(z).expand(100_000, -1), kappa)
    assert chi_square_p_value(law.sample(torch.Generator().manual_seed(0)).numpy(), expected) > 1e-4


@pytest.mark.parametrize(
    ("d", "kappa"), [(2, 0.0), (2, 7.0), (5, 1.0), (10, 10.0), (50, 300.0), (10, 1e5), (3, 1e5)]
)
def test_cosine_follows_its_density(d, kappa):
    n = 20_000
    z = Uniform(Sphere(d), torch.float64).sample(1, torch.Generator().manual_seed(0)).expand(n, -1)
    x = VonMisesFisher(z, kappa).sample(torch.Generator().manual_seed(1))
    gap = 0.5 * (x - z).square().sum(dim=1).numpy()  # 1 − cosine, without cancellation
    # Density of g = 1 − cosine: ∝ e^{−κg} (g(2 − g))^{(d−3)/2}; in s = √g it is smooth for d = 2 too.
    end = min(2.0, (60 + d) / max(kappa, 1e-9))
    s = np.linspace(0, math.sqrt(end), 20_001)[1:-1]
    log_density = -kappa * s**2 + (d - 2) * np.log(s) + (d - 3) / 2 * np.log(2 - s**2)
    density = np.exp(log_density - log_density.max())
    cdf = np.cumsum(density) / density.sum()
    assert stats.kstest(np.interp(np.sqrt(gap), s, cdf), "uniform").pvalue > 1e-4


def test_log_prob_against_the_textbook_formula():
    z = Uniform(Sphere(5), torch.float64).sample(10, torch.Generator().manual_seed(0))
    x = Uniform(Sphere(5), torch.float64).sample(10, torch.Generator().manual_seed(1))
    kappa = 3.0
    constant = kappa**1.5 / ((2 * math.pi) ** 2.5 * special.iv(1.5, kappa))
    expected = math.log(constant) + kappa * (x * z).sum(dim=1)
    assert torch.allclose(VonMisesFisher(z, kappa).log_prob(x), expected)


@pytest.mark.parametrize("order", [0.0, 0.5, 4.0, 49.0])
@pytest.mark.parametrize("x", [0.0, 1e-3, 0.9, 5.0, 300.0])
def test_log_bessel_where_scipy_can_follow(order, x):
    direct = special.ive(order, x) / x**order if x else 1 / (2**order * math.gamma(order + 1))
    if direct > 1e-290:
        assert log_bessel_ratio(order, x) == pytest.approx(math.log(direct) + x, abs=1e-9)


def test_log_bessel_large_order_joins_smoothly():
    # ive underflows for such orders; the recurrence I_{ν−1} − I_{ν+1} = (2ν/x)I_ν is an independent check.
    x, order = 400.0, 900.0
    values = [math.exp(log_bessel_ratio(o, x) + o * math.log(x) + 900) for o in (order - 1, order, order + 1)]
    assert values[0] - values[2] == pytest.approx(2 * order / x * values[1], rel=1e-6)


@pytest.mark.parametrize(
    ("loc", "kappa", "name"), [(torch.ones(2, 3), 1.0, "loc"), (torch.eye(3), -1.0, "concentration")]
)
def test_bad_input_is_named(loc, kappa, name):
    with pytest.raises(ValueError, match=f"`{name}` must"):
        VonMisesFisher(loc, kappa)
