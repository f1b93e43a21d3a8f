"""Which pairs are each other's negatives: blocks of rows that do not depend on how the data are sorted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aninfonce._seeds import derive_seed

# Blocks of fewer pairs say little: in a short recording, neighbours come nearer to each other instead.
_FEWEST = 8


def spread_blocks(n: int, block: int, apart: int = 1, seed: int = 0) -> npt.NDArray[np.intp]:
    """Deal n pairs out to blocks of equal size, in which rows that stand near each other do not meet.

    Independent pairs are dealt at random, so it does not matter whether they came sorted. In a recording the
    positive of one pair is the anchor of another, and rows resemble their neighbours in time: as negatives
    they would count against the very pairs that they belong to.

    Example:
        >>> blocks = spread_blocks(1000, 256, apart=4)
        >>> blocks.shape, int(np.diff(np.sort(blocks)).min()) >= 4
        ((8, 125), True)

    Args:
        n: pairs, in the order of time if `apart` is above 1.
        block: most pairs in a block.
        apart: least distance in rows between two pairs of one block; less if blocks would have under 8 pairs.
        seed: of the dealing.

    Returns:
        Rows (B, size) of B blocks; fewer than B rows are left over.

    """
    rng = np.random.default_rng(derive_seed(seed, "blocks"))
    most = n // (2 if apart == 1 else _FEWEST)
    count = max(1, min(most, max(-(-n // block), 2 * apart if apart > 1 else 1)))
    size = n // count
    if apart == 1 or count == 1:
        return rng.permutation(n)[: count * size].reshape(count, size)
    # The same place in every stretch of `count` rows could fall in step with a periodic recording. So each
    # stretch is turned against the one before it, by at least `apart`: where the turn brings a block's place
    # round to the beginning of the stretch, its two rows are that far from each other.
    turns = np.cumsum(rng.integers(min(apart, count - 1), count, size))
    return np.arange(size) * count + (np.arange(count)[:, None] + turns) % count
