"""Pairs from a process, drawn ahead."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from aninfonce._seeds import stream
from aninfonce._validation import check_count
from aninfonce.processes import DataGeneratingProcess, PairBatch
from aninfonce.sources.base import State, StreamSource, drawing_thread

_BULK = 65_536


class _Bulk(NamedTuple):
    """Pairs drawn together, and the state of the generator before the draw."""

    pairs: PairBatch
    before: Tensor


class ProcessSource(StreamSource):
    """Pairs from a process, drawn in bulk by a thread while the last bulk is used up.

    Args:
        process: to draw from.
        seed: of two generators, one for the steps and one for `fresh`.
        bulk: pairs drawn at once.

    """

    def __init__(self, process: DataGeneratingProcess, seed: int = 0, bulk: int = _BULK) -> None:
        super().__init__(seed)
        self.process: DataGeneratingProcess = process
        self._size = self.largest_batch = check_count(bulk, "bulk")
        self._worker = drawing_thread("pairs")
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
        """Draw `most` new pairs: a process never runs out, so training loses none."""
        return self.process.sample(most, stream(self._seed, "pairs", "held out"))

    def state(self) -> State:
        """State of both generators, and the position in the bulk."""
        if self._now is None:
            return {**super().state(), "position": torch.tensor(-1)}
        return {**super().state(), "stream": self._now.before, "position": torch.tensor(self._position)}

    def restore(self, state: State) -> None:
        """Draw the bulk of that state again and go to its position in it."""
        if self._ahead is not None:
            self._ahead.result()
        self._ahead = self._now = None
        super().restore(state)
        position = int(state["position"])
        if position >= 0:
            self._advance()
            self._position = position
