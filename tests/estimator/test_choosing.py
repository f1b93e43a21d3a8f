"""What is chosen without labels: the number of columns, and the lag."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from aninfonce.estimator import choosing
from aninfonce.estimator.choosing import choose_columns, choose_lag
from aninfonce.estimator.pairs import lagged
from tests.estimator.small import UNFINISHED, autoregressive, frames, make_pairs, quick

pytestmark = UNFINISHED
ENOUGH = {"max_steps": 400, "batch_size": 256, "encoder_options": {"width": 32, "depth": 2}}


@pytest.mark.parametrize("bent", [False, True])
def test_three_factors_have_three_columns(bent):
    """Four channels, three factors.

    A fourth column that tells nothing is kept if it happens to be ahead by two standard errors: 2 % of the
    time if it neither helped nor harmed. The third factor, φ = .5, brings .2 bits, many times that.
    """
    z, X = autoregressive([0.5, 0.8, 0.95], 3000, channels=4)
    if not bent:
        X = z @ np.random.default_rng(1).normal(size=(3, 4))
    ica = quick(n_components="auto", space="flat", **ENOUGH).fit(X)
    curve = ica.n_components_curve_
    assert curve.chosen == ica.concentration_.shape[0] == ica.transform(X).shape[1] == 3
    assert curve.candidates.tolist() == [1, 2, 3, 4]
    assert (np.diff(curve.scores[:3]) > 2 * curve.errors[:2]).all()
    assert len(ica.get_feature_names_out()) == 3
    assert ica.plot_choice().axes[0].get_xlabel() == "number of columns"


def scripted(monkeypatch, scores, channels=8, space="flat"):
    """Let numbers of columns have given scores (one list of blocks each); tell which were tried."""
    tried = []

    def train(kinds, parameters, seed, **_):
        tried.append(parameters["n_components"])
        return SimpleNamespace(columns=parameters["n_components"], held_out=kinds)

    monkeypatch.setattr(choosing, "train", train)
    monkeypatch.setattr(choosing, "held_out_bits", lambda run: np.array(scores[run.columns - 1]))
    X = np.random.default_rng(0).normal(size=(40, channels))
    parameters = {"space": space, "loss": "aninfonce"}
    run, curve = choose_columns([lagged(frames(X), 1)], parameters, 0, device="cpu", verbose=0)
    assert run.columns == curve.chosen
    return curve, tried


def test_ties_go_to_the_fewer(monkeypatch):
    """Blocks of the same pairs are compared: what they have in common is no error."""
    common = np.array([0.0, 3.0, -2.0, 1.0])
    noise = 0.1 * np.array([1.0, -1.0, 0.5, -0.5])
    scores = [1.0 + common, 2.0 + common + noise, 2.01 + common, 2.0 + common, 1.9 + common]
    curve, tried = scripted(monkeypatch, scores)
    assert curve.chosen == 2
    assert tried == [1, 2, 3, 4, 5]
    assert curve.errors[0] == pytest.approx(0.0, abs=1e-12)
    # The same lead beyond two errors is no tie.
    scores[1] = 2.0 + common + 0.01 * noise
    assert scripted(monkeypatch, scores)[0].chosen == 3


def test_the_search_ends_where_two_in_a_row_are_in_vain(monkeypatch):
    rising = [np.array([k, k + 0.1]) for k in range(8)]
    assert scripted(monkeypatch, rising)[0].candidates.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    flat = [np.array([1.0, 1.1])] * 8
    curve, tried = scripted(monkeypatch, flat)
    assert (curve.chosen, tried) == (1, [1, 2, 3])
    # Later in larger steps, never beyond the columns of the data.
    many = [np.array([k, k + 0.1]) for k in range(20)]
    assert scripted(monkeypatch, many, channels=20)[1] == [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18]


def test_a_choice_needs_something_held_out():
    X, X_pos = make_pairs(50)
    with pytest.raises(ValueError, match=r"`n_components` must be a number where pairs are too few"):
        quick(n_components="auto").fit(X, X_pos)


def test_columns_are_chosen_for_pairs_and_windows_too():
    X, X_pos = make_pairs(300)
    ica = quick(n_components="auto", max_steps=10).fit(X, X_pos)
    assert 1 <= ica.n_components_curve_.chosen <= 3
    _, rows = autoregressive([0.9], 200, channels=1)
    ica = quick(n_components="auto", window=3, max_steps=10).fit(rows)
    assert ica.n_components_curve_.candidates.max() <= 3


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


def test_on_a_sphere_the_search_begins_with_two_columns(monkeypatch):
    """It began with one, which a sphere does not have, and ended there."""
    _, tried = scripted(monkeypatch, [[9.0], [1.0], [1.5], [1.0], [1.0], [1.0]], space="sphere")
    assert tried == [2, 3, 4, 5]


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
    quickly = choosing.remembered(pairs, 3)
    wide = lagged(frames(np.concatenate([X, X], axis=1)), 1)
    # Channels twice over say nothing new.
    assert choosing.remembered(wide, 3) == pytest.approx(quickly, abs=1e-6)
    # The moments of 20 000 channels would take 3 GB, and hours.
    many = lagged(frames(np.cumsum(np.random.default_rng(0).normal(size=(60, 20_000)), axis=0)), 1)
    assert 0 < choosing.remembered(many, 3) <= 1
