"""Which pairs are kept out of training, so that evaluations use pairs the encoder never saw."""

from __future__ import annotations

import torch
from torch import Tensor

from aninfonce._seeds import stream

# With fewer held-out pairs than this, a score would mean nothing: all pairs are trained on instead.
_FEWEST = 16


def rows_aside(rows: int, share: float, most: int, batch: int, seed: int) -> Tensor | None:
    """Choose rows to hold out; equal arguments give the same rows.

    Example:
        >>> rows_aside(1000, share=0.1, most=4096, batch=512, seed=0).shape
        torch.Size([100])

    Args:
        rows: how many there are.
        share: of them to hold out.
        most: rows to hold out.
        batch: rows that must be left to train on, at least.
        seed: draws them.

    Returns:
        The rows, in random order; None if too few would be held out or left.

    """
    count = min(round(share * rows), most)
    if count < _FEWEST or rows - count < batch:
        return None
    return torch.randperm(rows, generator=_stream(seed))[:count]


def groups_aside(sizes: Tensor, share: float, most: int, batch: int, seed: int) -> Tensor | None:
    """Choose whole groups of pairs to hold out, such as sequences, whose pairs depend on each other.

    As `rows_aside`, but that groups of `sizes` (G,) pairs are chosen: their indices, of `share` of all pairs
    at most.

    >>> len(groups_aside(torch.full((20,), 50), share=0.1, most=4096, batch=512, seed=0))
    2
    """
    order = torch.randperm(len(sizes), generator=_stream(seed))
    total = sizes[order].cumsum(0)
    taken = order[total <= min(share * int(sizes.sum()), most)]
    count = int(sizes[taken].sum())
    if count < _FEWEST or int(sizes.sum()) - count < batch:
        return None
    return taken


def others(rows: int, taken: Tensor) -> Tensor:
    """List the rows that are not in `taken`, in order."""
    left = torch.ones(rows, dtype=torch.bool)
    left[taken] = False
    return left.nonzero()[:, 0]


def _stream(seed: int) -> torch.Generator:
    return stream(seed, "pairs", "held out")
