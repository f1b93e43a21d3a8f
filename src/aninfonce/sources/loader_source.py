"""Pairs from a `DataLoader` or another iterable of batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Generator
from torch.utils.data import DataLoader

from aninfonce.processes import PairBatch
from aninfonce.sources.base import PairSource, State, as_pair_batch
from aninfonce.sources.split_loader import split_loader


class LoaderSource(PairSource):
    """Batches from a `DataLoader`, epoch after epoch, in the sizes that it was made with.

    Resuming repeats the epoch's first batches and drops them; it is exact if the loader's order and its
    augmentations come from torch's random state or from a `generator` of the loader.

    Args:
        loader: iterable of batches (x, x_pos), (x, x_pos, x_neg) or `PairBatch`.
        seed: chooses the rows that are held out; the order is the loader's own.

    """

    sharded = True

    def __init__(self, loader: Iterable[Any], seed: int = 0) -> None:
        self.loader = loader
        self._whole, self._seed = loader, seed
        self._epoch: Iterator[Any] | None = None
        self._before: State = {}
        self._position = 0

    @property
    def _generator(self) -> Generator | None:
        generator = self.loader.generator if isinstance(self.loader, DataLoader) else None
        return generator if isinstance(generator, Generator) else None

    def _start_epoch(self) -> Iterator[Any]:
        self._before = {"global": torch.get_rng_state()}
        if self._generator is not None:
            self._before["loader"] = self._generator.get_state()
        self._epoch, self._position = iter(self.loader), 0
        return self._epoch

    def next(self, n: int) -> PairBatch:
        """Take the loader's next batch, whatever its size."""
        batch = next(self._start_epoch() if self._epoch is None else self._epoch, None)
        if batch is None:
            batch = next(self._start_epoch(), None)
        if batch is None:
            raise ValueError("the loader of pairs is empty")
        self._position += 1
        return as_pair_batch(batch)

    def fresh(self, n: int) -> PairBatch:
        """Collect up to `n` pairs from an iteration of their own."""
        with torch.random.fork_rng(devices=[]):
            kept = None if self._generator is None else self._generator.get_state()
            pairs = _collect(self.loader, n)
            if kept is not None and self._generator is not None:
                self._generator.set_state(kept)
        return pairs

    def set_aside(self, share: float, most: int, batch: int) -> PairBatch | None:
        """Hold out rows of the loader's data set, or some of a list of batches."""
        split = split_loader(self._whole, share, most, self._seed)
        if split is None:
            return None
        self.loader, self._epoch = split.kept, None
        return _collect(split.aside, most)

    def state(self) -> State:
        """Random states before the epoch, and the number of batches taken from it."""
        return {**self._before, "position": torch.tensor(-1 if self._epoch is None else self._position)}

    def restore(self, state: State) -> None:
        """Start the epoch of the state again and skip the batches that were taken."""
        position = int(state["position"])
        self._epoch = None
        if position < 0:
            return
        now = torch.get_rng_state()
        torch.set_rng_state(state["global"])
        if self._generator is not None and "loader" in state:
            self._generator.set_state(state["loader"])
        self._start_epoch()
        for _ in range(position):
            self.next(0)
        torch.set_rng_state(now)


def _collect(batches: Iterable[Any], n: int) -> PairBatch:
    """Join batches until there are `n` pairs."""
    found: list[PairBatch] = []
    for batch in batches:
        found.append(as_pair_batch(batch))
        if sum(map(len, found)) >= n:
            break
    if not found:
        raise ValueError("the loader of pairs is empty")
    x, x_pos = (torch.cat([getattr(b, name) for b in found])[:n] for name in ("x", "x_pos"))
    return PairBatch(x, x_pos)
