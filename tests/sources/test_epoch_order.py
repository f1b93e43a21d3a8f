import pytest
import torch

from aninfonce.sources.epoch_order import EpochOrder


def test_every_epoch_deals_all_rows_in_another_order():
    order = EpochOrder(12, seed=0)
    epochs = [torch.cat([order.next(4) for _ in range(3)]) for _ in range(3)]
    assert all(sorted(epoch.tolist()) == list(range(12)) for epoch in epochs)
    assert not torch.equal(epochs[0], epochs[1])


def test_an_incomplete_last_batch_is_left_out():
    order = EpochOrder(5, seed=0)
    first, second = order.next(3), order.next(3)
    assert len(set(first.tolist())) == len(set(second.tolist())) == 3


@pytest.mark.parametrize("before", [0, 1, 3, 7])
def test_a_restored_order_goes_on_as_if_never_interrupted(before):
    order, other = EpochOrder(9, seed=1), EpochOrder(9, seed=2)
    for _ in range(before):
        order.next(2)
    state = {name: tensor.clone() for name, tensor in order.state().items()}
    expected = [order.next(2) for _ in range(9)]
    other.restore(state)
    assert all(torch.equal(rows, other.next(2)) for rows in expected)


def test_a_batch_larger_than_the_data_is_refused():
    with pytest.raises(ValueError, match="`n` must be at most the number of rows, 5, got 6"):
        EpochOrder(5, seed=0).next(6)
