import numpy as np
import pytest
import torch

from aninfonce.estimator.pairs import augmented, lagged, later_rows, make_pairs, shuffled
from aninfonce.estimator.sources import open_source
from tests.estimator.small import counted, frames


def test_lagged_pairs_stay_within_sessions():
    pairs = lagged(frames(counted(8), [0, 0, 0, 0, 1, 1, 1, 1]), 1)
    assert pairs.x[:, 0].tolist() == [0, 1, 2, 4, 5, 6]
    assert (pairs.x_pos - pairs.x == 1).all()
    # Neighbours share a cluster; recordings do not.
    assert pairs.clusters.tolist() == [0, 0, 1, 2, 2, 3]


def test_the_end_of_a_recording_is_held_out():
    train, held = lagged(frames(counted(101)), 1).hold_out(0.2, seed=0)
    assert train.x.max() < held.x.min()
    # A pair that would reach from one side to the other is on neither.
    assert (len(train), len(held)) == (80, 19)


def test_of_a_few_recordings_the_end_of_each_is_held_out():
    """Not the last recording whole: Λ̂ would be that of one subject alone."""
    labels = np.repeat([0, 1, 2], [41, 21, 41])
    train, held = lagged(frames(counted(103), labels), 1).hold_out(0.2, seed=0)
    assert np.bincount(held.recording).tolist() == [7, 3, 7]
    for number in range(3):
        assert train.x[train.recording == number].max() < held.x[held.recording == number].min()


def test_of_many_recordings_some_are_held_out_whole():
    """One of their pairs shares rows with the next: the end of each would lie on both sides."""
    labels = np.repeat(np.arange(40), 11)
    train, held = lagged(frames(counted(440), labels), 1).hold_out(0.2, seed=0)
    assert len(held) == 80
    assert not set(held.recording) & set(train.recording)
    assert len(np.unique(held.recording)) == 8
    # One that is longer than all the others together cannot be held out.
    long = np.concatenate([np.arange(39).repeat(11), np.full(2000, 39)])
    train, held = lagged(frames(counted(len(long)), long), 1).hold_out(0.1, seed=0)
    assert 0.05 < len(held) / (len(held) + len(train)) <= 0.1


def test_clusters_are_stretches_of_time_that_grow_with_the_recording():
    pairs = lagged(frames(counted(901)), 1)
    assert np.bincount(pairs.clusters).tolist() == [30] * 30
    assert len(np.unique(lagged(frames(counted(200)), 50).clusters)) == 3
    assert augmented(frames(np.ones((5, 2))), lambda rows: rows).clusters is None


def test_some_of_the_pairs_come_from_everywhere_in_their_order():
    pairs = lagged(frames(counted(10_001)), 2).some(1000, seed=0)
    assert len(pairs) == 1000
    assert (np.diff(pairs.x[:, 0]) > 0).all()
    assert np.histogram(pairs.x, bins=10)[0].min() > 50
    # As far in time as before, which is fewer pairs now.
    assert pairs.apart == 1
    assert lagged(frames(counted(10_020)), 20).some(1000, seed=0).apart == 8
    assert pairs.some(2000, seed=0) is pairs


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8])
def test_a_lag_may_be_any_whole_number(kind):
    pairs = lagged(frames(counted(10)), kind(2))
    assert (pairs.x_pos - pairs.x == 2).all()
    assert type(pairs.lag) is int


def test_digits_are_kept_where_columns_are_far_from_zero():
    X = 1e8 + np.arange(200.0)[:, None] / 100
    pairs = augmented(frames(X), lambda rows: rows + 0.25)
    for batch in (pairs.batch(X.mean(axis=0)), open_source([pairs], 0, X.mean(axis=0)).next(200)):
        torch.testing.assert_close(batch.x_pos - batch.x, torch.full((200, 1), 0.25), atol=1e-6, rtol=0)
        assert len(batch.x.unique()) == 200


def test_of_independent_pairs_any_are_held_out():
    X = np.arange(100.0)[:, None]
    train, held = augmented(frames(X), lambda rows: rows + 1).hold_out(0.2, seed=0)
    assert held.x.min() < train.x.max()
    assert sorted([*train.x[:, 0], *held.x[:, 0]]) == X[:, 0].tolist()


def test_shuffling_breaks_every_pair():
    X = np.arange(50.0)[:, None]
    pairs = shuffled(augmented(frames(X), lambda rows: rows), seed=0)
    assert (pairs.x != pairs.x_pos).all()
    assert sorted(pairs.x_pos[:, 0]) == X[:, 0].tolist()


@pytest.mark.parametrize("window", [1, 3])
def test_no_pair_crosses_a_border_and_none_has_a_gap(window):
    """At either end, or anywhere in the windows around them."""
    session = np.repeat([0, 1, 2], [20, 30, 25])
    gap = np.zeros(75, dtype=bool)
    gap[[10, 60]] = True
    X = counted(75)
    X[gap] = np.nan
    rows = frames(X, session, window=window, gap=gap)
    for lag in (3, 7):
        pairs = lagged(rows, lag)
        assert (pairs.positives - pairs.anchors == lag).all()
        assert (session[pairs.anchors] == session[pairs.positives]).all()
        assert np.isfinite(pairs.x).all()
        assert np.isfinite(pairs.x_pos).all()
        usable = [t for t in range(75) if not gap[rows.neighbours(np.array([t]))].any()]
        expected = [t for t in usable if t + lag in usable and session[t] == session[t + lag]]
        assert pairs.anchors.tolist() == expected


@pytest.mark.parametrize("session", [np.zeros(300), np.repeat([0, 1], 150), np.repeat(np.arange(30), 10)])
def test_held_out_rows_are_in_no_training_pair_and_the_same_for_all_lags(session):
    rows = frames(counted(300), session)
    splits = [lagged(rows, lag).hold_out(0.2, seed=3) for lag in (1, 4)]
    trained, held = (
        set(np.concatenate([[*part.anchors, *part.positives] for part in side]))
        for side in zip(*splits, strict=True)
    )
    assert held
    assert trained
    assert not trained & held


def test_what_cannot_be_paired_is_told():
    with pytest.raises(ValueError, match=r"got 20 and X with n_samples=20: leave it out"):
        lagged(frames(counted(20)), 20)
    with pytest.raises(ValueError, match=r"got 5 and session 1 with n_samples=4"):
        lagged(frames(counted(24), np.repeat([0, 1], [20, 4])), 5)
    with pytest.raises(ValueError, match=r"got 1 and session 0 with n_samples=1"):
        lagged(frames(counted(5), np.arange(5)), 1)
    every_other = np.arange(20) % 2 == 0
    with pytest.raises(ValueError, match=r"at least 2 pairs of rows that are 3 apart, got 0"):
        lagged(frames(counted(20), gap=every_other), 3)


def test_an_augmentation_in_place_leaves_the_rows_alone():
    X = np.arange(12.0).reshape(6, 2)
    rows = X.copy()
    pairs = augmented(frames(rows), lambda x: np.add(x, 1.0, out=x))
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(pairs.x_pos, X + 1)


@pytest.mark.parametrize("kind", [str, object, complex])
def test_an_augmentation_gives_numbers(kind):
    with pytest.raises(ValueError, match="`augment` must give finite numbers"):
        augmented(frames(np.ones((4, 2))), lambda x: x.astype(kind))


def test_positives_behind_a_mask_are_missing():
    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises(ValueError, match="X_pos contains NaN"):
        make_pairs(frames(X), None, np.ma.masked_array(X, mask=X > 10), (1,), None)


def test_too_few_pairs_between_gaps_say_so():
    gap = np.arange(8) % 2 == 0
    with pytest.raises(ValueError, match=r"n_samples=8 in 1 session.*, 4 of them with NaN"):
        lagged(frames(np.arange(8.0)[:, None], gap=gap), 1)


def held(session, share, seed=0):
    return later_rows(np.asarray(session), share, np.random.default_rng(seed))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.15, 0.5])
@pytest.mark.parametrize("lengths", [[100], [40, 60], [7, 13, 80]])
def test_the_end_of_each_of_a_few(lengths, share):
    session = np.repeat(np.arange(len(lengths)), lengths)
    found = held(session, share)
    assert found.sum() == int(share * 100)
    for number, length in enumerate(lengths):
        own = found[session == number]
        # Once held out, held out to the end.
        assert (np.diff(own.astype(int)) >= 0).all()
        assert abs(own.sum() - share * length) < 1.0 + 1e-9


def test_whole_ones_of_many():
    session = np.repeat(np.arange(50), 8)
    found = held(session, 0.2).reshape(50, 8)
    assert (found.all(axis=1) | ~found.any(axis=1)).all()
    assert found.any(axis=1).sum() == 10
    # Which, the generator decides.
    assert not np.array_equal(found, held(session, 0.2, seed=1).reshape(50, 8))


def test_one_long_session_among_many_is_not_all_there_is():
    session = np.concatenate([np.repeat(np.arange(30), 2), np.full(1000, 30)])
    found = held(session, 0.15)
    assert 0.1 < found.mean() <= 0.15
