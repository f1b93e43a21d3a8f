import numpy as np
import pytest

from aninfonce.diagnostics.intervals import jackknife, jackknife_each, share_lost


def test_jackknife_intervals_cover():
    """200 intervals of 95 % for a variance: fewer than 178 cover with probability below 1e-3."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        x = rng.normal(size=400)
        _, (low, high) = jackknife(lambda rows, x=x: x[rows].var(), 400)
        covered += low < 1 < high
    assert covered >= 178


def test_several_at_once_are_as_each_alone():
    x = np.random.default_rng(0).normal(size=(300, 2))
    values, intervals = jackknife_each(lambda rows: x[rows].var(axis=0), 300)
    for column in range(2):
        value, interval = jackknife(lambda rows, column=column: x[rows, column].var(), 300)
        np.testing.assert_allclose([values[column], *intervals[column]], [value, *interval])


@pytest.mark.parametrize(("before", "after"), [(0.775, 0.537), (0.9, 0.85), (0.65, 0.5), (1.0, 1.0)])
def test_intervals_of_the_share_lost_cover(before, after):
    """200 intervals of 95 % on paired answers: fewer than 178 cover with probability below 1e-3."""
    rng, covered = np.random.default_rng(0), 0
    truth = (before - after) / (before - 0.5)
    for _ in range(200):
        luck = rng.random(500)
        # Half of the answers depend on each other, half do not.
        other = np.where(rng.random(500) < 0.5, luck, rng.random(500))
        value, (low, high) = share_lost(luck < before, other < after)
        assert low <= value <= high
        covered += low <= truth <= high
    assert covered >= 178


def test_nothing_is_lost_of_what_was_never_there():
    rng = np.random.default_rng(0)
    value, (low, high) = share_lost(rng.random(500) < 0.5, rng.random(500) < 0.5)
    assert np.isnan(value)
    assert np.isinf([low, high]).all()
