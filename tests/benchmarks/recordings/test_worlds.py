"""The worlds have the autocorrelation and the marginals they claim.

Every tolerance is 5 standard errors of what is estimated, a false-alarm rate of 6e-7 a comparison.
"""

import numpy as np
import pytest
from benchmarks.recordings.worlds import (
    FIVE,
    WORLDS,
    autoregressive,
    concentration_of,
    mixing,
    recording,
    world,
)
from scipy.stats import kstest

ROWS = 20_000


def autocorrelation(source):
    centred = source - source.mean()
    return (centred[:-1] @ centred[1:]) / (centred @ centred)


@pytest.mark.parametrize("kind", ["gauss", "laplace"])
@pytest.mark.parametrize("phi", FIVE)
def test_sources_have_their_autocorrelation_and_unit_variance(phi, kind):
    source = autoregressive([phi], ROWS, [kind], np.random.default_rng(1))[:, 0]
    assert abs(autocorrelation(source) - phi) < 5 * np.sqrt((1 - phi**2) / ROWS)
    # Of the squares: (2 + excess kurtosis) × their sum of squared autocorrelations; Laplace has at most 3.
    excess = 3 * (1 - phi**2) / (1 + phi**2) if kind == "laplace" else 0.0
    error = np.sqrt((2 + excess) * (1 + phi**2) / (1 - phi**2) / ROWS)
    assert abs(np.mean(source**2) - 1) < 5 * error


def test_innovations_are_laplace_where_they_should_be():
    phi = 0.9
    for kind, ratio, error in (("laplace", np.sqrt(0.5), 0.7), ("gauss", np.sqrt(2 / np.pi), 0.5)):
        source = autoregressive([phi], ROWS, [kind], np.random.default_rng(2))[:, 0]
        innovation = source[1:] - phi * source[:-1]
        assert abs(np.abs(innovation).mean() / innovation.std() - ratio) < 5 * error / np.sqrt(ROWS)


def test_uniform_sources_are_uniform():
    # Without memory the rows are independent, as the test of Kolmogorov and Smirnov wants them.
    source = autoregressive([0.0], ROWS, ["uniform"], np.random.default_rng(3))[:, 0]
    assert kstest(source, "uniform", args=(-np.sqrt(3), 2 * np.sqrt(3))).pvalue > 6e-7


def test_concentration_is_that_of_the_transition():
    # z⁺ = φz + √(1 − φ²)ε: the term of log p(z⁺|z) in z·z⁺ is φ/(1 − φ²).
    assert np.allclose(concentration_of([0.5, 0.99]), [2 / 3, 0.99 / (1 - 0.99**2)])


def test_mixing_bends_less_with_less_strength():
    z = np.random.default_rng(0).standard_normal((2000, 5))
    left_over = []
    for strength in (1.0, 0.38, 0.01):
        x = mixing(5, 12, strength, np.random.default_rng(1))(z).astype(float)
        centred = x - x.mean(axis=0)
        singular = np.linalg.svd(centred, compute_uv=False)
        left_over.append((singular[5:] ** 2).sum() / (singular**2).sum())
    assert left_over[0] > left_over[1] > left_over[2]
    assert left_over[2] < 1e-4


def test_observation_noise_has_its_share():
    quiet, noisy = (recording(FIVE, seed=0, name="test", noise=noise) for noise in (0.0, 0.05))
    share = (noisy.x - quiet.x).std(axis=0) / quiet.x.std(axis=0)
    assert np.abs(share - 0.05).max() < 5 * 0.05 / np.sqrt(2 * len(quiet.x))


@pytest.mark.parametrize("name", [name for name in WORLDS if not name.startswith("sphere")])
def test_every_world_keeps_its_last_fifth_for_scoring_and_is_the_same_each_time(name):
    world.cache_clear()
    data = world(name, 3)
    world.cache_clear()
    again = world(name, 3)
    assert data.n_train * 5 == len(data.x) * 4
    assert len(data.z) == len(data.x)
    assert data.x.dtype == np.float32
    assert np.isfinite(data.x).all()
    assert np.array_equal(data.x, again.x)
    assert (data.x_pos is not None) == name.startswith("pairs")
    assert not np.array_equal(data.x, world(name, 4).x)


def test_an_unknown_world_is_refused_by_name():
    with pytest.raises(ValueError, match=r"`name` must be one of ar5, .*, got 'mars'"):
        world("mars", 0)
