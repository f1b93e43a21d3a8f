"""Where pairs come from: one interface over processes, arrays and loaders, drawn ahead, resumable.

Every source can say where it stands (`state`) and go back there (`restore`), so that a resumed run sees the
very pairs that an uninterrupted one would have seen. Pairs for closed-form fits (`fresh`) have random numbers
of their own, so that a fit never shifts the pairs of the steps that follow. Pairs that were set aside for
evaluations (`set_aside`) come in neither.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from aninfonce._seeds import stream
from aninfonce._validation import check_count, describe
from aninfonce.processes import DataGeneratingProcess, PairBatch
from aninfonce.training.held_out import others, rows_aside
from aninfonce.training.order import EpochOrder

State = dict[str, Tensor]

_BULK = 65_536


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
        """Take the next `n` pairs (a loader gives the batches that it was made with)."""

    @abstractmethod
    def fresh(self, n: int) -> PairBatch:
        """Take up to `n` pairs for a fit, without moving the stream."""

    def set_aside(self, share: float, most: int, batch: int) -> PairBatch | None:
        """Hold out pairs before the first is dealt out: from now on neither `next` nor `fresh` gives them.

        Args:
            share: of the pairs to hold out.
            most: pairs to hold out.
            batch: pairs that a step takes; as many must be left.

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


def as_source(pairs: Any, seed: int = 0) -> PairSource:
    """Make a source of whatever holds pairs.

    Example:
        >>> x = torch.randn(100, 3)
        >>> as_source((x, x + 0.1), seed=0).next(10).x.shape
        torch.Size([10, 3])

    Args:
        pairs: a `DataGeneratingProcess`; a `PairBatch` or tuple of arrays (x, x_pos), each (N, ...); a
            `DataLoader` (or other iterable that can be started again) of batches (x, x_pos), with hard
            negatives as an optional third; or a `PairSource`.
        seed: draws or orders the pairs.

    Returns:
        The source.

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
        from aninfonce.training.loaders import LoaderSource

        return LoaderSource(pairs, seed)
    raise ValueError(
        "`pairs` must be a process, a tuple of arrays (x, x_pos), or a loader of such batches that can be"
        f" started again, got {describe(pairs)}"
    )


def as_pair_batch(batch: Any) -> PairBatch:
    """Read (x, x_pos) or (x, x_pos, x_neg), in arrays or tensors, as a `PairBatch` of floats."""
    if isinstance(batch, PairBatch):
        return batch
    if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
        raise ValueError(f"a batch of pairs must be (x, x_pos) or (x, x_pos, x_neg), got {describe(batch)}")
    tensors = [torch.as_tensor(part) for part in batch]
    tensors = [part if part.is_floating_point() else part.float() for part in tensors]
    x, x_pos = tensors[:2]
    if x.shape != x_pos.shape or x.ndim < 2:
        raise ValueError(
            f"`x` and `x_pos` must have one shape (N, ...), got {tuple(x.shape)} and {tuple(x_pos.shape)}"
        )
    return PairBatch(*tensors)


class _Bulk(NamedTuple):
    """Pairs drawn together, and the state of the generator before the draw."""

    pairs: PairBatch
    before: Tensor


class ProcessSource(PairSource):
    """Pairs from a process, drawn in bulk by a thread while the last bulk is used up.

    Args:
        process: to draw from.
        seed: of two generators, one for the stream and one for `fresh`.
        bulk: pairs drawn at once.

    """

    def __init__(self, process: DataGeneratingProcess, seed: int = 0, bulk: int = _BULK) -> None:
        self.process: DataGeneratingProcess = process
        self._size = self.largest_batch = check_count(bulk, "bulk")
        self._stream = stream(seed, "pairs", "steps")
        self._aside = stream(seed, "pairs", "fits")
        self._seed = seed
        # The worker draws with as many threads as the caller: OpenMP would give a new thread all cores.
        self._worker = ThreadPoolExecutor(1, "pairs", torch.set_num_threads, (torch.get_num_threads(),))
        self._now: _Bulk | None = None
        self._ahead: Future[_Bulk] | None = None
        self._position = 0

    def next(self, n: int) -> PairBatch:
        """Take the next `n` pairs."""
        if check_count(n, "n") > self._size:
            raise ValueError(f"`n` must be at most the bulk of {self._size}, got {n}")
        if self._now is None or self._position + n > self._size:
            self._advance()
        assert self._now is not None
        batch = self._now.pairs[self._position : self._position + n]
        self._position += n
        return batch

    def _advance(self) -> None:
        ahead = self._ahead or self._worker.submit(self._draw)
        self._now, self._position = ahead.result(), 0
        self._ahead = self._worker.submit(self._draw)

    def _draw(self) -> _Bulk:
        before = self._stream.get_state()
        pairs = self.process.sample(self._size, self._stream)
        # The steps need no latents: without them the bulk takes half the memory.
        return _Bulk(replace(pairs, z=None, z_pos=None, z_neg=None), before)

    def fresh(self, n: int) -> PairBatch:
        """Draw `n` pairs, latents included."""
        return self.process.sample(n, self._aside)

    def set_aside(self, share: float, most: int, batch: int) -> PairBatch:
        """Draw as many new pairs as are wanted: a process has no end, nothing is lost to the steps."""
        return self.process.sample(most, stream(self._seed, "pairs", "held out"))

    def state(self) -> State:
        """State of both generators, and the position in the bulk."""
        before = self._stream.get_state() if self._now is None else self._now.before
        position = -1 if self._now is None else self._position
        return {"stream": before, "aside": self._aside.get_state(), "position": torch.tensor(position)}

    def restore(self, state: State) -> None:
        """Draw the bulk of the state again and go to its position in it."""
        if self._ahead is not None:
            self._ahead.result()
        self._ahead = self._now = None
        self._stream.set_state(state["stream"])
        self._aside.set_state(state["aside"])
        position = int(state["position"])
        if position >= 0:
            self._advance()
            self._position = position


class StreamSource(PairSource):
    """Pairs that depend on two generators alone: one for the steps, one for what is drawn aside.

    Args:
        seed: of both.

    """

    def __init__(self, seed: int) -> None:
        self._stream = stream(seed, "pairs", "steps")
        self._aside = stream(seed, "pairs", "fits")

    def state(self) -> State:
        """States of both generators."""
        return {"stream": self._stream.get_state(), "aside": self._aside.get_state()}

    def restore(self, state: State) -> None:
        """Go on from both states."""
        self._stream.set_state(state["stream"])
        self._aside.set_state(state["aside"])


class PairRows(Protocol):
    """Pairs that are taken by rows: a `PairBatch`, or files that are opened when asked."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Tensor, /) -> PairBatch:
        """Take some of the pairs."""


class ArraySource(PairSource):
    """Pairs from arrays, in a new order each epoch; an incomplete last batch is left out.

    Args:
        pairs: all of them, in memory or on disk.
        seed: of the orders.
        order: deals out the rows instead, such as a `NeighbourOrder`.

    """

    def __init__(self, pairs: PairRows, seed: int = 0, *, order: EpochOrder | None = None) -> None:
        if len(pairs) < 2:
            raise ValueError(f"`pairs` must hold at least 2 pairs, got {len(pairs)}")
        if order is not None and order.rows != len(pairs):
            raise ValueError(f"`order` must deal out {len(pairs)} rows, got one of {order.rows}")
        self.pairs = pairs
        self.largest_batch = len(pairs)
        self._order = EpochOrder(len(pairs), seed, "pairs") if order is None else order
        self._aside = stream(seed, "pairs", "fits")
        self._seed = seed

    def next(self, n: int) -> PairBatch:
        """Take the next `n` pairs of this epoch, or the first of a new one."""
        return self.pairs[self._order.next(n)]

    def fresh(self, n: int) -> PairBatch:
        """Take `n` pairs at random without repetition, or all there are."""
        return self.pairs[self._order.random(n, self._aside)]

    def set_aside(self, share: float, most: int, batch: int) -> PairBatch | None:
        """Hold out rows chosen at random."""
        rows = rows_aside(len(self.pairs), share, most, batch, self._seed)
        if rows is None:
            return None
        self._order.keep(others(len(self.pairs), rows))
        self.largest_batch = self._order.rows
        return self.pairs[rows]

    def state(self) -> State:
        """States of both generators, and the position in the epoch."""
        return {**self._order.state(), "aside": self._aside.get_state()}

    def restore(self, state: State) -> None:
        """Order the epoch of the state again and go to its position in it."""
        self._order.restore(state)
        self._aside.set_state(state["aside"])
