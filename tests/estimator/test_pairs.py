import numpy as np
import pytest
import torch

from aninfonce.estimator.pairs import augmented, lagged, shuffled


def test_lagged_pairs_stay_within_groups_that_are_interleaved():
    X = np.arange(8.0)[:, None]
    pairs = lagged(X, 1, groups=[0, 1, 0, 1, 0, 1, 0, 1])
    assert (pairs.x_pos - pairs.x == 2).all()
    assert len(pairs) == 6
    # Neighbours share a cluster; recordings do not.
    assert pairs.clusters.tolist() == [0, 0, 1, 2, 2, 3]


def test_the_end_of_a_recording_is_held_out():
    train, held = lagged(np.arange(101.0)[:, None], 1).hold_out(0.2, seed=0)
    assert train.x.max() < held.x.min()
    assert (len(train), len(held)) == (80, 20)


def test_of_a_few_recordings_the_end_of_each_is_held_out():
    """Not the last recording whole: Λ̂ would be that of one subject alone."""
    labels = np.repeat([0, 1, 2], [41, 21, 41])
    train, held = lagged(np.arange(103.0)[:, None], 1, labels).hold_out(0.2, seed=0)
    assert np.bincount(held.recording).tolist() == [8, 4, 8]
    for number in range(3):
        assert train.x[train.recording == number].max() < held.x[held.recording == number].min()


def test_of_many_recordings_some_are_held_out_whole():
    """One of their pairs shares rows with the next: the end of each would lie on both sides."""
    labels = np.repeat(np.arange(40), 11)
    train, held = lagged(np.arange(440.0)[:, None], 1, labels).hold_out(0.2, seed=0)
    assert len(held) == 80
    assert not set(held.recording) & set(train.recording)
    assert len(np.unique(held.recording)) == 8
    # One that is longer than all the others together cannot be held out.
    long = np.concatenate([np.arange(39).repeat(11), np.full(2000, 39)])
    train, held = lagged(np.arange(len(long), dtype=float)[:, None], 1, long).hold_out(0.1, seed=0)
    assert 0.05 < len(held) / (len(held) + len(train)) <= 0.1


def test_clusters_are_stretches_of_time_that_grow_with_the_recording():
    pairs = lagged(np.arange(901.0)[:, None], 1)
    assert np.bincount(pairs.clusters).tolist() == [30] * 30
    assert len(np.unique(lagged(np.arange(200.0)[:, None], 50).clusters)) == 3
    assert augmented(np.ones((5, 2)), lambda rows: rows).clusters is None


def test_some_of_the_pairs_come_from_everywhere_in_their_order():
    pairs = lagged(np.arange(10_001.0)[:, None], 2).some(1000, seed=0)
    assert len(pairs) == 1000
    assert (np.diff(pairs.x[:, 0]) > 0).all()
    assert np.histogram(pairs.x, bins=10)[0].min() > 50
    # As far in time as before, which is fewer pairs now.
    assert pairs.apart == 1
    assert lagged(np.arange(10_020.0)[:, None], 20).some(1000, seed=0).apart == 8
    assert pairs.some(2000, seed=0) is pairs


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8])
def test_a_lag_may_be_any_whole_number(kind):
    pairs = lagged(np.arange(10.0)[:, None], kind(2))
    assert (pairs.x_pos - pairs.x == 2).all()
    assert type(pairs.lag) is int


def test_digits_are_kept_where_columns_are_far_from_zero():
    X = 1e8 + np.arange(200.0)[:, None] / 100
    pairs = augmented(X, lambda rows: rows + 0.25)
    for batch in (pairs.batch(X.mean(axis=0)), pairs.source(0, X.mean(axis=0)).next(200)):
        torch.testing.assert_close(batch.x_pos - batch.x, torch.full((200, 1), 0.25), atol=1e-6, rtol=0)
        assert len(batch.x.unique()) == 200


def test_of_independent_pairs_any_are_held_out():
    X = np.arange(100.0)[:, None]
    train, held = augmented(X, lambda rows: rows + 1).hold_out(0.2, seed=0)
    assert held.x.min() < train.x.max()
    assert sorted([*train.x[:, 0], *held.x[:, 0]]) == X[:, 0].tolist()


def test_shuffling_breaks_every_pair():
    X = np.arange(50.0)[:, None]
    pairs = shuffled(augmented(X, lambda rows: rows), seed=0)
    assert (pairs.x != pairs.x_pos).all()
    assert sorted(pairs.x_pos[:, 0]) == X[:, 0].tolist()
