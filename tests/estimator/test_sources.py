"""Pairs as training takes them."""

import numpy as np
import pytest
import torch

from aninfonce.estimator.pairs import augmented, lagged
from aninfonce.estimator.sources import LaggedRows, TurnsSource, open_source
from tests.estimator.small import counted, frames


@pytest.mark.parametrize("window", [1, 3])
def test_each_row_is_held_once_whatever_lag_and_window(window):
    X = np.random.default_rng(0).normal(size=(50, 2)) + 100.0
    pairs = lagged(frames(X, np.repeat([0, 1], 25), window=window), 4)
    centre = pairs.frames.mean()
    rows = LaggedRows(pairs, centre)
    assert rows._rows.shape == X.shape
    assert len(rows) == len(pairs) == 42
    which = torch.tensor([3, 0, 41])
    batch = rows[which]
    np.testing.assert_allclose(batch.x.numpy(), pairs.x[which] - centre, atol=1e-5)
    np.testing.assert_allclose(batch.x_pos.numpy(), pairs.x_pos[which] - centre, atol=1e-5)


def test_kinds_take_turns():
    rows = frames(counted(101))
    source = open_source([lagged(rows, lag) for lag in (1, 5, 9)], seed=0, centre=None)
    assert isinstance(source, TurnsSource)
    for batch in (source.next(30), source.fresh(30)):
        assert len(batch.x) == 30
        steps = (batch.x_pos - batch.x)[:, 0].reshape(-1, 3)
        assert (steps == torch.tensor([1.0, 5.0, 9.0])).all()
    # Kinds do not walk through the recording in step.
    assert not torch.equal(batch.x[0::3], batch.x[1::3])
    # The smallest kind decides how many there can be: 92 of lag 9.
    assert source.largest_batch == 3 * 92
    assert len(source.next(source.largest_batch).x) == 3 * 92


def test_an_epoch_has_every_pair_of_each_kind_once():
    rows = frames(counted(41))
    source = open_source([lagged(rows, lag) for lag in (1, 1)], seed=0, centre=None)
    batches = [source.next(20) for _ in range(4)]
    for kind in range(2):
        seen = torch.cat([batch.x[kind::2, 0] for batch in batches])
        assert sorted(seen.tolist()) == list(range(40))


@pytest.mark.parametrize(
    "kinds",
    [
        [lagged(frames(counted(60)), 2)],
        [lagged(frames(counted(60)), lag) for lag in (1, 3)],
        [augmented(frames(counted(60)), lambda rows: rows + 1)],
    ],
    ids=["one lag", "two lags", "augmentation"],
)
def test_a_source_goes_on_where_it_was(kinds):
    source, other = (open_source(kinds, seed=0, centre=None) for _ in range(2))
    for _ in range(3):
        source.next(16)
    other.restore(source.state())
    for _ in range(5):
        one, same = source.next(16), other.next(16)
        assert torch.equal(one.x, same.x)
        assert torch.equal(one.x_pos, same.x_pos)
