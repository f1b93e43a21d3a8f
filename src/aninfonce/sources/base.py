"""Where pairs come from: one resumable interface over processes, arrays and loaders.

Every source can record its position (`state`) and go back to it (`restore`), so that a resumed run sees
exactly the pairs that an uninterrupted one would have seen. Pairs for closed-form fits (`fresh`) are drawn
from a stream of their own, so that a fit never shifts the pairs of later steps. Pairs that were set aside for
evaluations (`set_aside`) appear in neither.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from torch import Tensor

from aninfonce._seeds import stream
from aninfonce._validation import check_unmasked, describe
from aninfonce.processes import DataGeneratingProcess, PairBatch

State = dict[str, Tensor]


def drawing_thread(name: str) -> ThreadPoolExecutor:
    """Open a thread that draws ahead, with as many threads of torch's as its caller has.

    OpenMP would give a new thread all cores.
    """
    return ThreadPoolExecutor(1, name, torch.set_num_threads, (torch.get_num_threads(),))


class PairSource(ABC):
    """A stream of `PairBatch`es.

    Attributes:
        process: the process behind the pairs, if there is one.
        sharded: whether each process of a distributed run already gets batches of its own. If not, all see
            the same global batches and take their share of the rows.
        largest_batch: that `next` can give; None for no limit.

    """

    process: DataGeneratingProcess | None = None
    sharded = False
    largest_batch: int | None = None

    @abstractmethod
    def next(self, n: int) -> PairBatch:
        """Take the next `n` pairs; a loader gives batches of its own size."""

    @abstractmethod
    def fresh(self, n: int) -> PairBatch:
        """Take up to `n` pairs for a fit, without moving the stream."""

    def set_aside(self, share: float, most: int, batch: int) -> PairBatch | None:
        """Hold out pairs before the first is dealt out: from now on neither `next` nor `fresh` gives them.

        Args:
            share: of the pairs to hold out.
            most: pairs to hold out, at most.
            batch: pairs that a step takes; at least as many must be left.

        Returns:
            The pairs, the same whenever it is called; None where nothing can be held out.

        """
        return None

    @abstractmethod
    def state(self) -> State:
        """Say where the stream stands, in tensors."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Go back to where a `state` was taken."""


def as_pair_batch(batch: Any) -> PairBatch:
    """Read (x, x_pos) or (x, x_pos, x_neg), in arrays or tensors, as a `PairBatch` of floats."""
    if isinstance(batch, PairBatch):
        return batch
    if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
        raise ValueError(f"a batch of pairs must be (x, x_pos) or (x, x_pos, x_neg), got {describe(batch)}")
    tensors = [rows_as_floats(part, name) for part, name in zip(batch, ("x", "x_pos", "x_neg"), strict=False)]
    x, x_pos = tensors[:2]
    if x.shape != x_pos.shape or x.ndim < 2:
        raise ValueError(
            f"`x` and `x_pos` must have one shape (N, ...), got {tuple(x.shape)} and {tuple(x_pos.shape)}"
        )
    return PairBatch(*tensors)


def rows_as_floats(given: Any, name: str) -> Tensor:
    """Read an array, tensor, list or data frame of real numbers as a tensor of floats, without a copy."""
    check_unmasked(given, name)
    rows = given if isinstance(given, Tensor) else np.asarray(given)
    try:
        with warnings.catch_warnings():
            # Memory maps and data frames are often read-only, and nothing is written to them here.
            warnings.filterwarnings("ignore", "The given NumPy array is not writable")
            found = torch.as_tensor(rows)
    except TypeError:
        raise ValueError(f"`{name}` must hold numbers, got {describe(given)} of type {rows.dtype}") from None
    if found.is_complex():
        raise ValueError(f"`{name}` must hold real numbers, got {describe(given)} of type {found.dtype}")
    return found if found.is_floating_point() else found.float()


class StreamSource(PairSource):
    """Pairs that depend on two generators alone: one for the steps, one for fits.

    Args:
        seed: of both generators.

    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._stream = stream(seed, "pairs", "steps")
        self._aside = stream(seed, "pairs", "fits")

    def state(self) -> State:
        """Give the states of both generators."""
        return {"stream": self._stream.get_state(), "aside": self._aside.get_state()}

    def restore(self, state: State) -> None:
        """Set both generators to these states."""
        self._stream.set_state(state["stream"])
        self._aside.set_state(state["aside"])
