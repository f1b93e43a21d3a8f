"""Further runs, matched column by column, widen the intervals."""

import numpy as np
import pytest
from scipy.stats import t as student

from aninfonce.estimator.refitting import blocks_left, matched_columns, widened
from tests.estimator.small import UNFINISHED, autoregressive, quick

pytestmark = UNFINISHED


def test_columns_are_matched_whatever_their_order_and_sign():
    rng = np.random.default_rng(0)
    own = rng.normal(size=(500, 4))
    order = np.array([2, 0, 3, 1])
    other = (own * [1, -1, -3, 0.5] + 0.2 * rng.normal(size=(500, 4)))[:, order]
    matched = matched_columns(own, other)
    assert order[matched].tolist() == [0, 1, 2, 3]
    # A column that is constant in the other run is matched to what is left.
    other[:, 1] = 7.0
    with np.errstate(invalid="ignore"):
        assert sorted(matched_columns(own, other)) == [0, 1, 2, 3]


def test_runs_that_agree_leave_an_interval_as_it_is():
    values, interval = np.array([[4.0, 9.0]]), np.array([[[3.0, 5.0], [0.0, 12.0]]])
    same = widened(values, interval, np.stack([values, values, values]))
    np.testing.assert_allclose(same, interval)
    wider = widened(values, interval, np.stack([values, 2 * values, values / 2]))
    assert (wider[..., 0] <= interval[..., 0]).all()
    assert (wider[..., 1] > interval[..., 1]).all()
    # What may be 0 may still be.
    assert wider[0, 1, 0] == 0.0


def test_an_interval_without_width_is_that_of_one_more_run():
    """It holds the value of a further run in 95 % of all cases: counted, with the false-alarm rate 1e-4."""
    rng = np.random.default_rng(0)
    count, repeats, inside = 3, 4000, 0
    runs = np.exp(0.3 * rng.normal(size=(count + 1, repeats)))
    centre = np.exp(np.log(runs[:count]).mean(axis=0))
    low, high = widened(centre, np.stack([centre, centre], axis=-1), runs[:count]).T
    inside = np.mean((low < runs[count]) & (runs[count] < high))
    # Four standard errors of a share.
    assert abs(inside - 0.95) < 4 * np.sqrt(0.95 * 0.05 / repeats)
    assert student.ppf(0.975, count - 1) > 4


@pytest.mark.parametrize("lag", [1, (1, 2)])
def test_refits_widen_the_intervals_of_an_estimator(lag):
    _, X = autoregressive([0.3, 0.9], 400)
    plain = quick(n_components=2, lag=lag).fit(X)
    again = quick(n_components=2, lag=lag, refits=2).fit(X)
    np.testing.assert_array_equal(again.concentrations_, plain.concentrations_)
    np.testing.assert_array_equal(again.transform(X), plain.transform(X))
    low, high = np.moveaxis(again.concentrations_interval_, -1, 0)
    before_low, before_high = np.moveaxis(plain.concentrations_interval_, -1, 0)
    assert (low <= before_low * (1 + 1e-9)).all()
    assert (high >= before_high * (1 - 1e-9)).all()
    # Wider intervals tell fewer columns apart.
    expected = blocks_left(again.concentrations_interval_, again.separated_)
    assert [block.tolist() for block in again.blocks_] == [block.tolist() for block in expected]
    assert len(again.blocks_) <= len(plain.blocks_)
    assert (high > before_high).any()
    np.testing.assert_array_equal(again.time_constants_, plain.time_constants_)
    assert (again.time_constants_interval_[:, 1] > plain.time_constants_interval_[:, 1]).all()
    assert plain.refit_agreement_.shape == (0,)
    assert again.refit_agreement_.shape == (2,)
    assert (again.refit_agreement_ <= 1.0).all()


def test_columns_told_apart_by_independence_stay_so_unless_others_join_them():
    wide = np.array([[[1.0, 3.0], [2.0, 4.0], [3.5, 9.0], [20.0, 30.0]]])
    blocks = [block.tolist() for block in blocks_left(wide, [np.array([0, 1])])]
    assert blocks == [[0, 1, 2], [3]]
    blocks = [block.tolist() for block in blocks_left(wide, [np.array([0, 1, 2])])]
    assert blocks == [[0], [1], [2], [3]]
