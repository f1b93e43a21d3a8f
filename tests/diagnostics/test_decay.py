"""Time constants of columns, with and without errors from row to row."""

import numpy as np
import pytest
from scipy.signal import lfilter

from aninfonce.diagnostics import decay_times


def autoregression(phi, rows, repeats, seed=0):
    noise = np.random.default_rng(seed).standard_normal((rows + 1000, repeats))
    return lfilter([np.sqrt(1 - phi**2)], [1, -phi], noise, axis=0)[1000:]


@pytest.mark.parametrize(("phi", "rows"), [(0.5, 2000), (0.9, 4000), (0.98, 8000)])
def test_intervals_hold_the_truth_most_of_the_time(phi, rows):
    """Of 100 columns at least 85: with a coverage of 93 %, fewer happen in 1 case of 300."""
    value, low, high = decay_times(autoregression(phi, rows, 100)).T
    truth = -1 / np.log(phi)
    assert abs(np.median(value) / truth - 1) < 0.1
    assert ((low < truth) & (truth < high)).sum() >= 85


def test_errors_from_row_to_row_do_not_shorten_a_slow_column():
    slow = autoregression(0.99, 20_000, 5)
    errors = np.random.default_rng(1).standard_normal(slow.shape)
    clean, noisy = decay_times(slow)[:, 0], decay_times(slow + 0.15 * errors)[:, 0]
    np.testing.assert_allclose(noisy, clean, rtol=0.05)
    # Read off neighbouring rows, two per cent of errors make a third of it.
    column = (slow + 0.15 * errors)[:, 0]
    assert -1 / np.log(np.corrcoef(column[1:], column[:-1])[0, 1]) < 0.5 * clean[0]


def test_sessions_and_gaps_are_not_joined():
    """Halves of opposite sign: what goes from one to the other would shorten the time."""
    slow = autoregression(0.95, 4000, 1)
    whole = decay_times(slow)[0, 0]
    swapped = np.concatenate([slow, -slow])
    halves = decay_times(swapped, np.repeat([0, 1], 4000))[0]
    np.testing.assert_allclose(halves[0], whole, rtol=0.1)
    holes = slow.copy()
    holes[1000:1300] = np.nan
    np.testing.assert_allclose(decay_times(holes)[0, 0], whole, rtol=0.25)
    # Rows between gaps that leave no long lags at all.
    holes = slow.copy()
    holes[::3] = np.nan
    assert np.isfinite(decay_times(holes)).all()


def test_the_lag_is_kept_to():
    """Rows nearer than the lag share noise: here neighbours are equal."""
    slow = np.repeat(autoregression(0.8, 3000, 1), 2, axis=0)
    time = decay_times(slow, lag=2)[0, 0]
    np.testing.assert_allclose(time, -2 / np.log(0.8), rtol=0.15)


@pytest.mark.parametrize("column", [np.zeros((30, 1)), np.random.default_rng(0).normal(size=(30, 1))])
def test_nothing_to_remember_is_no_error(column):
    found = decay_times(column)[0]
    assert np.isfinite(found).all()
    assert found[0] < 3


def test_a_lag_of_more_than_half_the_rows_will_do():
    assert np.isfinite(decay_times(np.random.default_rng(0).normal(size=(10, 2)), lag=6)).all()


def test_a_wrong_lag_is_refused():
    with pytest.raises(ValueError, match="`lag` must be a whole number of at least 1, got 0"):
        decay_times(np.zeros((10, 1)), lag=0)
