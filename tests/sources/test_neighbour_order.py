"""Batches of neighbours."""

import pytest
import torch

from aninfonce._seeds import stream
from aninfonce.processes import PairBatch
from aninfonce.sources import ArraySource, NeighbourOrder

X = torch.arange(60.0)[:, None]


def dealt(every=3, seed=0):
    return NeighbourOrder(torch.cat((X, 0 * X), 1), seed, every=every)


def test_neighbours_take_turns_with_random_rows():
    order = dealt()
    batches = [order.next(6) for _ in range(12)]
    neighbours = [int(rows.max() - rows.min()) == 5 for rows in batches]
    assert neighbours == [turn % 3 != 0 for turn in range(1, 13)]


def test_no_row_comes_twice():
    assert len(dealt().next(20).unique()) == 20


def test_the_nearest_in_any_direction():
    features = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
    rows = NeighbourOrder(features, 4).next(10)
    middle = torch.randint(200, (1,), generator=stream(4, "pairs", "neighbours"))
    expected = torch.cdist(features[middle], features)[0].argsort()[:10]
    assert set(rows.tolist()) == set(expected.tolist())


def test_neighbours_are_not_sorted():
    order = dealt(seed=1)
    assert order.next(10).argsort().tolist() != order.next(10).argsort().tolist()


def test_random_batches_go_through_the_epoch():
    order = dealt(every=1)
    assert sorted(torch.cat([order.next(20) for _ in range(3)]).tolist()) == list(range(60))


def test_a_source_with_an_order_of_its_own():
    source = ArraySource(PairBatch(X, X + 0.5), order=dealt())
    batch = source.next(6)
    assert float(batch.x.max() - batch.x.min()) == 5
    assert torch.equal(batch.x_pos, batch.x + 0.5)


def test_a_source_resumes_where_it_stood():
    source, other = (ArraySource(PairBatch(X, X), seed, order=dealt(seed=seed)) for seed in (0, 9))
    for _ in range(4):
        source.next(6)
    other.restore(source.state())
    for _ in range(7):
        assert torch.equal(source.next(6).x, other.next(6).x)
    assert torch.equal(source.fresh(9).x, other.fresh(9).x)


def test_bad_input():
    with pytest.raises(
        ValueError, match=r"`features` must be a floating-point tensor of shape \(N, d\), got"
    ):
        NeighbourOrder(torch.zeros(5), 0)
    with pytest.raises(ValueError, match="`features` must be finite, got NaN or infinity in 1 of 60"):
        NeighbourOrder(X / X.flip(0).clamp(max=1), 0)
    with pytest.raises(ValueError, match="`every`"):
        NeighbourOrder(X, 0, every=0)
    with pytest.raises(ValueError, match="`n` must be at most the number of rows, 60, got 61"):
        dealt().next(61)
    with pytest.raises(ValueError, match="`order` must deal out 4 rows, got one of 60"):
        ArraySource(PairBatch(X[:4], X[:4]), order=dealt())
