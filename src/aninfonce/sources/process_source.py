"""Pairs from a process, drawn ahead."""

from __future__ import annotations

from dataclasses import replace

from torch import Generator

from aninfonce.processes import DataGeneratingProcess, PairBatch
from aninfonce.sources.bulk_source import BulkSource

_BULK = 65_536


class ProcessSource(BulkSource):
    """Pairs from a process, drawn in bulk by a thread while the last bulk is used up.

    Args:
        process: to draw from.
        seed: of two generators, one for the steps and one for `fresh`.
        bulk: pairs drawn at once.

    """

    def __init__(self, process: DataGeneratingProcess, seed: int = 0, bulk: int = _BULK) -> None:
        super().__init__(seed, bulk)
        self.process: DataGeneratingProcess = process

    def sample(self, n: int, generator: Generator) -> PairBatch:
        """Draw `n` pairs, latents included."""
        return self.process.sample(n, generator)

    def draw_bulk(self, number: int) -> PairBatch:
        """Draw the next bulk; without latents it takes half the memory."""
        return replace(self.sample(self.bulk, self._stream), z=None, z_pos=None, z_neg=None)
