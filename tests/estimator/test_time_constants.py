"""Λ̂ told as time, in rows and in seconds."""

import numpy as np
import pytest

from aninfonce.diagnostics import decay_times
from aninfonce.estimator.time_constants import TimeConstants
from tests.estimator.small import UNFINISHED, autoregressive, quick

pytestmark = UNFINISHED


def told(concentrations, interval, lags=(1,), *, space="flat", rate=None, measured=()):
    found = TimeConstants()
    found.decay_times_ = np.reshape(measured, (-1, 3))
    found.concentrations_, found.concentrations_interval_ = np.array(concentrations), np.array(interval)
    found.lags_, found.space_, found.rate = lags, space, rate
    return found


def of(phi, lag=1):
    """Λ of an autoregression, some rows later."""
    return phi**lag / (1 - phi ** (2 * lag))


def test_a_time_constant_is_that_of_the_autoregression():
    phi = np.array([0.5, 0.9, 0.99])
    values = of(phi)
    found = told([values], [np.stack([0.9 * values, 1.1 * values], axis=1)])
    np.testing.assert_allclose(found.time_constants_, -1 / np.log(phi), rtol=1e-9)
    low, high = found.time_constants_interval_.T
    assert ((low < found.time_constants_) & (found.time_constants_ < high)).all()
    # The lag is part of it: over three rows Λ is less, time is the same.
    later = told([of(phi, 3)], [np.stack([0.9 * of(phi, 3), 1.1 * of(phi, 3)], axis=1)], (3,))
    np.testing.assert_allclose(later.time_constants_, found.time_constants_, rtol=1e-9)


def test_seconds_are_rows_by_the_rate():
    values, interval = [of(np.array([0.9]))], [[[3.0, 6.0]]]
    rows, seconds = (told(values, interval, rate=rate) for rate in (None, 50.0))
    np.testing.assert_allclose(seconds.time_constants_, rows.time_constants_ / 50)
    np.testing.assert_allclose(seconds.time_constants_interval_, rows.time_constants_interval_ / 50)


def test_of_several_lags_the_narrowest_interval_tells():
    phi = 0.9
    wide, narrow = [0.0, 50.0], [of(phi, 4) * 0.9, of(phi, 4) * 1.1]
    found = told([[1.0], [of(phi, 4)]], [[wide], [narrow]], (1, 4))
    np.testing.assert_allclose(found.time_constants_, -1 / np.log(phi), rtol=1e-9)
    # Intervals that reach from 0 to anything do no harm.
    empty = told([[0.0], [0.0]], [[[0.0, 1e12]], [[0.0, np.inf]]], (1, 4))
    assert empty.time_constants_.shape == (1,)


def test_what_was_measured_goes_before_what_concentrations_say():
    found = told([[5.0]], [[[3.0, 6.0]]], rate=10.0, measured=[[40.0, 30.0, 60.0]])
    assert found.time_constants_.tolist() == [4.0]
    assert found.time_constants_interval_.tolist() == [[3.0, 6.0]]


@pytest.mark.parametrize(("lags", "space"), [((), "flat"), ((1,), "sphere")])
def test_elsewhere_there_are_none(lags, space):
    found = told([[1.0]], [[[0.5, 2.0]]], lags, space=space)
    assert found.time_constants_ is None
    assert found.time_constants_interval_ is None


def test_the_estimator_tells_them_in_both():
    _, X = autoregressive([0.3, 0.9], 400)
    rows, seconds = (quick(n_components=2, space="flat", rate=rate).fit(X) for rate in (None, 20))
    np.testing.assert_allclose(seconds.time_constants_, rows.time_constants_ / 20)
    np.testing.assert_allclose(rows.time_constants_, decay_times(rows.transform(X))[:, 0], rtol=1e-4)
    assert seconds.plot_concentration().axes[0].get_ylabel().startswith("time constant [seconds]")
    assert "time constant [seconds]" in seconds._repr_html_()
    assert "time constant [rows]" in rows._repr_html_()
    with pytest.raises(ValueError, match="`seconds_per_row` must be None: rate=20 already gives it"):
        seconds.plot_concentration(seconds_per_row=0.05)
