"""Pairs of frames: which ones, how far apart, and the same after a restart."""

import numpy as np
import pytest
import torch

from aninfonce.sources import SequenceSource

LENGTHS = (3, 2, 30)


def numbered(**options):
    """Sequences whose frames hold the number of their sequence and of the frame."""
    sequences = [
        np.stack([np.full(length, number), np.arange(length)], axis=1).astype(np.float32)
        for number, length in enumerate(LENGTHS)
    ]
    latents = [sequence[:, 1:] for sequence in sequences]
    return SequenceSource(sequences, latents, **options)


@pytest.mark.parametrize("largest", [1, 5])
def test_gaps_are_uniform_and_stay_in_the_sequence(largest):
    source = numbered(largest_gap=largest, seed=1)
    batches = [source.next(32) for _ in range(200)]
    x, x_pos = (torch.cat([getattr(batch, name) for batch in batches]) for name in ("x", "x_pos"))
    assert torch.equal(x[:, 0], x_pos[:, 0])
    gaps = (x_pos - x)[:, 1]
    lasts = torch.tensor(LENGTHS)[x[:, 0].long()] - 1
    assert bool((gaps >= 1).all())
    assert bool((x_pos[:, 1] <= lasts).all())
    free = gaps[lasts - x[:, 1] >= largest]
    counts = torch.bincount(free.long(), minlength=largest + 1)[1:]
    assert len(counts) == largest
    # About 4500 draws of 5 gaps: a share of .2 scatters by .006.
    assert bool(((counts / counts.sum() - 1 / largest).abs() < 0.03).all())


def test_a_batch_holds_no_anchor_twice_and_all_are_drawn():
    source = numbered(seed=0)
    assert source.largest_batch == 2 + 1 + 29
    batch = source.next(32)
    assert len(torch.unique(batch.x, dim=0)) == 32
    with pytest.raises(ValueError, match="`n` must be at most the number of anchors, 32, got 33"):
        source.next(33)


def test_the_stream_goes_on_from_a_state_and_fits_do_not_move_it():
    source, other = numbered(seed=2), numbered(seed=2)
    source.next(4)
    state = {name: tensor.clone() for name, tensor in source.state().items()}
    fresh = source.fresh(10)
    expected = source.next(4)
    other.restore(state)
    assert torch.equal(other.next(4).x, expected.x)
    assert torch.equal(other.fresh(10).x_pos, fresh.x_pos)
    assert torch.equal(fresh.z, fresh.x[:, 1:])
    assert torch.equal(fresh.z_pos, fresh.x_pos[:, 1:])
    assert len(source.fresh(1000)) == 32


def test_booleans_are_read_as_numbers():
    batch = SequenceSource([np.ones((4, 1, 2, 2), dtype=bool)]).next(2)
    assert batch.x.dtype == torch.float32
    assert batch.z is None
    assert float(batch.x.sum()) == 8


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="2 frames or more each, got \\[4, 1\\]"):
        SequenceSource([np.zeros((4, 2)), np.zeros((1, 2))])
    with pytest.raises(ValueError, match="at least one sequence"):
        SequenceSource([])
    with pytest.raises(ValueError, match="`latents` must hold one array per sequence"):
        SequenceSource([np.zeros((4, 2))], [np.zeros((3, 1))])
    with pytest.raises(ValueError, match="`largest_gap` must be a whole number"):
        SequenceSource([np.zeros((4, 2))], largest_gap=0)
