"""The largest Λ over the smallest."""

import math

import numpy as np
import pytest

from aninfonce.diagnostics.ratio import spread_of


@pytest.mark.parametrize("truth", [[10.0] * 5, [5.0, 5.0, 25.0], [1.0, 1e5]])
def test_the_interval_covers_the_ratio(truth):
    """200 intervals of 95 %: fewer than 178 cover with probability below 1e-3."""
    truth, rng, covered = np.array(truth), np.random.default_rng(0), 0
    # Errors of 8 %, correlated as those of Λ̂ are.
    covariance = 0.08**2 * np.outer(truth, truth) * (0.7 * np.eye(len(truth)) + 0.3)
    for _ in range(200):
        found = spread_of(truth + rng.multivariate_normal(0 * truth, covariance), covariance, rng)
        low, high = found.interval
        covered += low <= truth.max() / truth.min() <= high
        assert low <= found.value <= high
    assert covered >= 178


def test_the_extremes_of_equals_are_no_difference():
    """Ten equal Λ: the largest estimate is well above the smallest, and the interval knows."""
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(200):
        values = 10 + rng.normal(size=10)
        alarms += spread_of(values, np.eye(10), rng).interval[0] > 1
    assert alarms <= 20


def test_a_ratio_to_nothing_is_undetermined():
    found = spread_of(np.array([0.2, 10.0, 20.0]), np.diag([0.2, 0.2, 0.2]) ** 2, np.random.default_rng(0))
    assert found.value is None
    assert found.zero.tolist() == [True, False, False]
    low, high = found.interval
    assert 20 < low < 40
    assert math.isinf(high)
    nothing = spread_of(np.zeros(3), np.eye(3), np.random.default_rng(0))
    assert nothing.interval == (1.0, math.inf)
    assert spread_of(np.zeros(2), np.zeros((2, 2)), np.random.default_rng(0)).value is None
