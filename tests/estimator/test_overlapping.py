"""Sums over overlapping stretches are known by their steps."""

import numpy as np
import pytest

from aninfonce.estimator.overlapping import summed_rows
from tests.estimator.small import autoregressive, frames


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
