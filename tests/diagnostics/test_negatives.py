import numpy as np
import pytest

from aninfonce.diagnostics.negatives import spread_blocks


@pytest.mark.parametrize(
    ("n", "block", "apart"), [(1000, 256, 4), (8192, 256, 4), (999, 512, 40), (99, 64, 5)]
)
def test_neighbours_in_time_do_not_meet(n, block, apart):
    for seed in range(5):
        blocks = spread_blocks(n, block, apart, seed)
        assert blocks.shape[1] <= block
        assert np.diff(np.sort(blocks, axis=1)).min() >= apart
        # Every row has one place, but for a few of the last ones.
        assert len(np.unique(blocks)) == blocks.size > n - len(blocks)


def test_a_recording_too_short_for_the_distance_gives_blocks_all_the_same():
    blocks = spread_blocks(40, 256, apart=100)
    assert blocks.shape == (5, 8)
    assert len(np.unique(blocks)) == 40
    assert spread_blocks(3, 256, apart=100).shape == (1, 3)


def test_a_block_meets_every_phase_of_a_beat():
    """A recording whose period is the number of blocks: none may hold one phase alone."""
    blocks = spread_blocks(8192, 256, apart=4)
    phases = [len(np.unique(rows % len(blocks))) for rows in blocks]
    assert min(phases) > len(blocks) // 2


@pytest.mark.parametrize(("n", "block", "shape"), [(1000, 256, (4, 250)), (3, 2, (1, 3)), (2, 256, (1, 2))])
def test_independent_pairs_are_dealt_at_random(n, block, shape):
    blocks = spread_blocks(n, block)
    assert blocks.shape == shape
    assert len(np.unique(blocks)) == blocks.size


def test_the_seed_decides():
    assert (spread_blocks(500, 64, 4, seed=1) == spread_blocks(500, 64, 4, seed=1)).all()
    assert (spread_blocks(500, 64, 4, seed=1) != spread_blocks(500, 64, 4, seed=2)).any()
