"""What is chosen of a recording without labels: its lag, and whether its rows are sums."""

import dataclasses

import numpy as np
import pytest

from aninfonce.estimator.lag_choice import choose_lag, remembered, summed_rows
from aninfonce.estimator.pairs import lagged
from tests.estimator.small import UNFINISHED, autoregressive, frames, make_pairs, quick

pytestmark = UNFINISHED


def test_what_is_sampled_too_often_has_a_longer_lag():
    """Ten times the rate is ten times the lag, to the next step of the ladder."""
    _, fast = autoregressive([0.3, 0.4], 3000)
    _, slow = autoregressive([0.97, 0.98], 3000)
    _, slower = autoregressive([0.997, 0.998], 30_000)
    lags = [choose_lag(frames(X), 2)[0] for X in (fast, slow, slower)]
    assert lags[0] == 1
    assert 4 <= lags[1] <= 32
    assert 4 <= lags[2] / lags[1] <= 32
    ica = quick(n_components=2, lag="auto").fit(slow)
    assert ica.lag_ == ica.lag_curve_.chosen == lags[1]
    assert ica.plot_choice("lag").axes[0].get_xlabel() == "lag [rows]"
    assert ica.score(slow[:600]) > 0


def test_a_chosen_lag_fits_windows_and_sessions():
    _, slow = autoregressive([0.97, 0.98], 3000)
    lag, curve = choose_lag(frames(slow, window=5), 2)
    assert lag >= 5
    assert curve.candidates[0] == 5
    short = choose_lag(frames(slow, np.arange(3000) // 40), 2)[1]
    assert short.candidates.max() <= 2
    with pytest.raises(ValueError, match="`lag` must be None where pairs come from X_pos, got 'auto'"):
        quick(lag="auto").fit(*make_pairs(50))


def test_noise_has_the_shortest_lag():
    noise = np.random.default_rng(0).normal(size=(2000, 3))
    lag, curve = choose_lag(frames(noise), 3)
    assert lag == 1
    # The average of 3 correlations over 1000 rows: five of its standard errors.
    assert abs(curve.scores[0]) < 5 / np.sqrt(3 * 1000)


def test_gaps_leave_the_lags_that_they_leave():
    X = np.cumsum(np.random.default_rng(0).normal(size=(400, 2)), axis=0)
    every_second = frames(X, gap=np.arange(400) % 2 == 0)
    lag, curve = choose_lag(every_second)
    assert curve.candidates[0] == 2
    assert lag >= 2
    with pytest.raises(ValueError, match="at least 2 pairs of rows that are 1 apart"):
        choose_lag(frames(X, gap=np.arange(400) > 0))


def summed_counts(phi, rows=9):
    """Counts of twenty cells, and their sums."""
    rng = np.random.default_rng(0)
    z, _ = autoregressive(phi, 3000)
    counts = rng.poisson(np.exp(0.4 * z @ rng.normal(size=(len(phi), 20)))).astype(float)
    return frames(counts), frames(np.lib.stride_tricks.sliding_window_view(counts, rows, axis=0).sum(axis=-1))


def test_the_lag_of_sums_is_no_shorter_than_they_are():
    """Counts summed over nine rows: at shorter lags a pair shares counts, noise and all."""
    counts, sums = summed_counts([0.6, 0.7])
    assert choose_lag(counts, 2)[0] == 1
    lag, curve = choose_lag(sums, 2)
    assert lag == curve.candidates[0] == 9
    assert choose_lag(dataclasses.replace(sums, window=3), 2)[1].candidates[0] == 11
    # Where more is remembered, the ladder goes on as it would have without.
    assert choose_lag(summed_counts([0.98, 0.99])[1], 2)[1].candidates[:3].tolist() == [9, 16, 32]


def test_more_channels_than_rows_take_another_way_to_the_same_components():
    X = np.cumsum(np.random.default_rng(0).normal(size=(120, 60)), axis=0)
    pairs = lagged(frames(X), 1)
    quickly = remembered(pairs, 3)
    wide = lagged(frames(np.concatenate([X, X], axis=1)), 1)
    # Channels twice over say nothing new.
    assert remembered(wide, 3) == pytest.approx(quickly, abs=1e-6)
    # The moments of 20 000 channels would take 3 GB, and hours.
    many = lagged(frames(np.cumsum(np.random.default_rng(0).normal(size=(60, 20_000)), axis=0)), 1)
    assert 0 < remembered(many, 3) <= 1


def sums(x, rows):
    return np.lib.stride_tricks.sliding_window_view(x, rows, axis=0).sum(axis=-1)


def counts(n, seed=0):
    rng = np.random.default_rng(seed)
    z, _ = autoregressive([0.98, 0.99], n, seed)
    return rng.poisson(np.exp(0.3 * z @ rng.normal(size=(2, 30)))).astype(float)


@pytest.mark.parametrize("rows", [1, 2, 5, 9, 20])
@pytest.mark.parametrize("n", [400, 5000])
def test_the_number_of_rows_is_found(rows, n):
    found = sums(counts(n), rows)
    assert summed_rows(frames(found), 50) == rows
    assert summed_rows(frames(found / rows + 1e3), 50) == rows


def test_sessions_and_gaps():
    parts = [sums(counts(300, seed), 6) for seed in range(4)]
    rows = np.concatenate(parts)
    rows[::17] = np.nan
    session = np.repeat(np.arange(4), [len(part) for part in parts])
    assert summed_rows(frames(rows, session, gap=np.isnan(rows).any(axis=1)), 20) == 6


def test_other_recordings_are_no_sums():
    """No false alarm in 200 recordings of one channel and 400 rows, white or AR(1), nor in oscillators."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        assert summed_rows(frames(rng.normal(size=(400, 1))), 50) == 1
        assert summed_rows(frames(autoregressive([0.9], 400, seed)[0]), 50) == 1
    turn = 2 * np.pi * np.arange(2000)[:, None] / np.array([3.0, 4.0, 6.0, 25.0])
    for column in (np.cos(turn) + 0.3 * np.random.default_rng(0).normal(size=turn.shape)).T:
        assert summed_rows(frames(column[:, None]), 100) == 1


@pytest.mark.parametrize("rows", [np.zeros((50, 2)), np.arange(3.0)[:, None], np.full((50, 1), np.nan)])
def test_nothing_to_tell_by(rows):
    assert summed_rows(frames(rows), 5) == 1
