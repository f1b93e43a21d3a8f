"""Pairs drawn many at a time, a bulk ahead."""

from __future__ import annotations

from abc import abstractmethod
from concurrent.futures import Future
from typing import Protocol

import torch
from torch import Generator

from aninfonce._seeds import stream
from aninfonce._validation import check_count
from aninfonce.processes import PairBatch
from aninfonce.sources.base import State, StreamSource, drawing_thread


class Bulk(Protocol):
    """Pairs drawn together, in the order in which they are used; steps need no latents."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> PairBatch: ...


class BulkSource(StreamSource):
    """Pairs drawn in bulk by a thread while the last bulk is used up; they never run out.

    Args:
        seed: of two generators, one for the steps and one for `fresh`.
        bulk: pairs drawn at once.

    """

    def __init__(self, seed: int, bulk: int) -> None:
        super().__init__(seed)
        self.bulk = self.largest_batch = check_count(bulk, "bulk")
        self._worker = drawing_thread("pairs")
        self._ahead: Future[tuple[State, Bulk]] | None = None
        self._now: Bulk | None = None
        self._number = 0
        # Where drawing stood before the bulk at hand, and the position in it.
        self._before: State = {}
        self._position = 0

    @abstractmethod
    def sample(self, n: int, generator: Generator) -> PairBatch:
        """Draw `n` pairs, latents included."""

    @abstractmethod
    def draw_bulk(self, number: int) -> Bulk:
        """Draw the bulk of a number, or the next of `self._stream`; called in a thread of its own."""

    def next(self, n: int) -> PairBatch:
        """Take the next `n` pairs."""
        if check_count(n, "n") > self.bulk:
            raise ValueError(f"`n` must be at most the bulk of {self.bulk}, got {n}")
        now = self._now
        if now is None or self._position + n > len(now):
            now = self._advance()
        batch = now[self._position : self._position + n]
        self._position += n
        return batch

    def _advance(self) -> Bulk:
        ahead = self._ahead or self._worker.submit(self._draw)
        (self._before, self._now), self._position = ahead.result(), 0
        self._ahead = self._worker.submit(self._draw)
        return self._now

    def _draw(self) -> tuple[State, Bulk]:
        before, bulk = self._where(), self.draw_bulk(self._number)
        self._number += 1
        return before, bulk

    def _where(self) -> State:
        return {"stream": self._stream.get_state(), "number": torch.tensor(self._number)}

    def fresh(self, n: int) -> PairBatch:
        """Draw `n` pairs, latents included."""
        return self.sample(n, self._aside)

    def set_aside(self, share: float, most: int, batch: int) -> PairBatch:
        """Draw `most` new pairs: training loses none."""
        return self.sample(most, stream(self._seed, "pairs", "held out"))

    def state(self) -> State:
        """Say where drawing stood before the bulk at hand, and the position in it."""
        where, position = (self._where(), -1) if self._now is None else (self._before, self._position)
        return {**where, "aside": self._aside.get_state(), "position": torch.tensor(position)}

    def restore(self, state: State) -> None:
        """Draw the bulk of that state again and go to its position in it."""
        if self._ahead is not None:
            self._ahead.exception()  # waits
        self._ahead = self._now = None
        super().restore(state)
        self._number = int(state.get("number", 0))  # of earlier versions, which had none
        if int(state["position"]) >= 0:
            self._advance()
            self._position = int(state["position"])
