"""Pairs from arrays, in memory or on disk."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from aninfonce._seeds import stream
from aninfonce.processes import PairBatch
from aninfonce.sources.base import PairSource, State
from aninfonce.sources.epoch_order import EpochOrder
from aninfonce.sources.rows_aside import others, rows_aside


class PairRows(Protocol):
    """Pairs that are taken by rows: a `PairBatch`, or files that are opened when asked."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Tensor, /) -> PairBatch:
        """Take some of the pairs."""


class ArraySource(PairSource):
    """Pairs from arrays, in a new order each epoch; an incomplete last batch is dropped.

    Args:
        pairs: all of them, in memory or on disk.
        seed: decides the orders.
        order: another way to deal out the rows, such as a `NeighbourOrder`.

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
        """Take the next `n` pairs, from a new epoch if too few are left in this one."""
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
        """Repeat the order of the state's epoch and go to its position in it."""
        self._order.restore(state)
        self._aside.set_state(state["aside"])
