import numpy as np

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
