"""Pairs have the marginal they claim on both sides, and exactly a quadratic dependence."""

import numpy as np
import pytest
from benchmarks.recordings.coupling import _coupling, coupled_pairs, density
from scipy.stats import kstest, norm, t

N = 20_000
WIDTH = np.sqrt(1 - 0.85**2)
CUMULATIVE = {
    "gauss": norm.cdf,
    "uniform": lambda z: np.clip(z / np.sqrt(12) + 0.5, 0, 1),
    "mixture": lambda z: (norm.cdf(z, 0.85, WIDTH) + norm.cdf(z, -0.85, WIDTH)) / 2,
    "student": lambda z: t.cdf(z, 5, scale=np.sqrt(3 / 5)),
}


@pytest.mark.parametrize("concentration", [0.7, 50.0])
@pytest.mark.parametrize("marginal", CUMULATIVE)
def test_both_sides_have_the_marginal(marginal, concentration):
    # 16 comparisons at 1e-6 each.
    for side in coupled_pairs(marginal, concentration, N, np.random.default_rng(5)):
        assert kstest(side, CUMULATIVE[marginal]).pvalue > 1e-6


@pytest.mark.parametrize("marginal", CUMULATIVE)
def test_the_dependence_is_quadratic(marginal):
    concentration = 3.0
    grid, mass, cumulative = _coupling(marginal, concentration)
    cells = len(grid)
    rows = np.diff(cumulative.reshape(cells, cells) - np.arange(cells)[:, None], prepend=0.0)
    # Near the middle: far outside, differences of cumulative sums are only rounding.
    middle = np.flatnonzero(np.abs(grid) < 0.5)[::10]
    logs = np.log(mass[middle, None] * rows[np.ix_(middle, middle)])
    mixed = logs[:-1, :-1] + logs[1:, 1:] - logs[:-1, 1:] - logs[1:, :-1]
    steps = np.diff(grid[middle])
    assert np.allclose(mixed / (steps[:, None] * steps), concentration, rtol=1e-5)
    assert np.allclose(logs, logs.T, atol=1e-6)


def test_gaussian_pairs_are_those_of_an_autoregression():
    phi = 0.85
    first, second = coupled_pairs("gauss", phi / (1 - phi**2), N, np.random.default_rng(6))
    # 5 standard errors: false alarms 6e-7.
    assert abs(np.corrcoef(first, second)[0, 1] - phi) < 5 * (1 - phi**2) / np.sqrt(N)


@pytest.mark.parametrize("marginal", CUMULATIVE)
def test_densities_have_unit_variance(marginal):
    grid = np.linspace(-60, 60, 240_001)
    mass = density(marginal, grid) * (grid[1] - grid[0])
    assert np.allclose([mass.sum(), mass @ grid, mass @ grid**2], [1, 0, 1], atol=2e-3)


def test_an_unknown_marginal_is_refused():
    with pytest.raises(ValueError, match=r"`marginal` must be gauss, .*, got 'cauchy'"):
        density("cauchy", np.zeros(1))
