"""The linear peers do what they are known for."""

import doctest

import numpy as np
import pytest
from benchmarks.recordings.linear import amuse, slow_features, sobi

from benchmarks.recordings import linear


@pytest.fixture(scope="module")
def world():
    """Orthogonal sources, cosines over whole periods: their lagged covariances are diagonal, exactly."""
    time = np.arange(4000)
    sources = np.stack([np.cos(2 * np.pi * k * time / 4000 + k) for k in (3, 400, 900, 1500)], axis=1)
    return sources, sources @ np.random.default_rng(0).standard_normal((4, 4)) + [1.0, 2.0, 3.0, 4.0]


def correlations(sources, found):
    return np.abs(np.corrcoef(sources.T, found.T)[: sources.shape[1], sources.shape[1] :])


def test_amuse_recovers_a_linear_mixing(world):
    sources, x = world
    # The last row's successor is missing, so that orthogonality is broken by one row in 4000.
    assert correlations(sources, amuse(x, 4)(x)).max(axis=1).min() > 0.99999


def test_amuse_recovers_a_linear_mixing_exactly_from_pairs(world):
    sources, x = world
    around = np.roll(x, -1, axis=0)
    assert correlations(sources, amuse(x, 4, around)(x)).max(axis=1).min() > 1 - 1e-10


def test_sobi_recovers_a_linear_mixing(world):
    sources, x = world
    assert correlations(sources, sobi(x, 4)(x)).max(axis=1).min() > 0.999


def test_slow_features_come_slowest_first(world):
    sources, x = world
    found = correlations(sources, slow_features(x, 4, np.roll(x, -1, axis=0))(x))
    assert np.allclose(found, np.eye(4), atol=1e-5)


def test_quadratic_slow_features_find_what_no_projection_has():
    rng = np.random.default_rng(0)
    slow = np.cos(2 * np.pi * 3 * np.arange(4000) / 4000)
    sign = rng.choice([-1.0, 1.0], 4000)
    x = np.stack([sign * np.sqrt(2 + slow), rng.standard_normal(4000)], axis=1)
    linear_one, quadratic = (
        np.abs(np.corrcoef(slow, slow_features(x, 1, quadratic=expand)(x)[:, 0])[0, 1])
        for expand in (False, True)
    )
    assert quadratic > 0.95 > 0.3 > linear_one


def test_examples_hold():
    assert doctest.testmod(linear).failed == 0
