"""From whatever holds pairs to a source of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from aninfonce._validation import describe
from aninfonce.processes import DataGeneratingProcess, PairBatch
from aninfonce.sources.array_source import ArraySource
from aninfonce.sources.base import PairSource, as_pair_batch
from aninfonce.sources.loader_source import LoaderSource
from aninfonce.sources.process_source import ProcessSource


def as_source(pairs: Any, seed: int = 0) -> PairSource:
    """Make a source of whatever holds pairs.

    Example:
        >>> import torch
        >>> x = torch.randn(100, 3)
        >>> as_source((x, x + 0.1), seed=0).next(10).x.shape
        torch.Size([10, 3])

    Args:
        pairs: a `DataGeneratingProcess`; a `PairBatch` or tuple of arrays (x, x_pos), each (N, ...); a
            `DataLoader` (or other iterable that can be started again) of batches (x, x_pos), with hard
            negatives as an optional third; or a `PairSource`.
        seed: draws or orders the pairs.

    """
    if isinstance(pairs, PairSource):
        return pairs
    if isinstance(pairs, DataGeneratingProcess):
        return ProcessSource(pairs, seed)
    if isinstance(pairs, PairBatch):
        return ArraySource(pairs, seed)
    if isinstance(pairs, tuple) and len(pairs) in (2, 3) and all(hasattr(a, "shape") for a in pairs):
        return ArraySource(as_pair_batch(pairs), seed)
    if isinstance(pairs, Iterable) and not isinstance(pairs, Iterator | str | bytes | dict):
        return LoaderSource(pairs, seed)
    raise ValueError(
        "`pairs` must be a process, a tuple of arrays (x, x_pos), or a loader of such batches that can be"
        f" started again, got {describe(pairs)}"
    )
