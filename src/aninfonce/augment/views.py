"""Pairs for training: two views of each image."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor

from aninfonce._seeds import stream
from aninfonce._validation import check_count, describe
from aninfonce.augment.base import Augmentation, Parameters, as_pixels
from aninfonce.processes import PairBatch
from aninfonce.sources.base import State, StreamSource
from aninfonce.sources.epoch_order import EpochOrder
from aninfonce.sources.rows_aside import others, rows_aside


class Views(NamedTuple):
    """Pairs of views, and how they came about.

    Attributes:
        pairs: x and x_pos, float32 (n, C, H, W).
        rows: (n,), of the images.
        parameters: what was drawn for x, (n, ...) each.
        parameters_pos: what was drawn for x_pos.

    """

    pairs: PairBatch
    rows: Tensor
    parameters: Parameters
    parameters_pos: Parameters


class ViewSource(StreamSource):
    """Two augmentations of each image, in a new order each epoch, as `training.fit` takes pairs.

    An incomplete last batch of an epoch is left out. A resumed run sees the very views that an uninterrupted
    one would have seen.

    Example:
        >>> from aninfonce.augment import Flip
        >>> source = ViewSource(torch.rand(10, 1, 8, 8), Flip(p=0.5), seed=0)
        >>> source.next(4).x_pos.shape
        torch.Size([4, 1, 8, 8])

    Args:
        images: uint8, or floats from 0 to 1, (N, C, H, W); an array, a tensor, or pictures opened row by row.
        augmentation: makes both views, with parameters of their own.
        seed: of the order and of the views.
        flat: give rows of pixels (n, C·H·W) to encoders that want these.
        shard: (rank, processes) of a distributed run: all draw the same parameters, and each opens and
            changes its own rows of a batch only.

    """

    # Views of an evaluation that are made at once.
    _chunk = 1_024

    def __init__(
        self,
        images: Any,
        augmentation: Augmentation,
        seed: int = 0,
        *,
        flat: bool = False,
        shard: tuple[int, int] = (0, 1),
    ) -> None:
        if len(getattr(images, "shape", ())) != 4 or len(images) < 2:
            raise ValueError(f"`images` must be at least 2 of shape (N, C, H, W), got {describe(images)}")
        super().__init__(seed)
        self.images = images
        self.augmentation = augmentation
        self.flat = flat
        self.shard = shard
        self.sharded = shard[1] > 1
        self.largest_batch = len(images)
        self._order = EpochOrder(len(images), seed, "images")

    def views(self, n: int) -> Views:
        """Take the next `n` pairs, or this process's share of them, with all that was drawn for them."""
        rows = self._order.next(n)
        rank, processes = self.shard
        own = slice(rank * n // processes, (rank + 1) * n // processes)
        return self._make(rows, self._stream, own)

    def next(self, n: int) -> PairBatch:
        """Take the next `n` pairs."""
        return self.views(n).pairs

    def fresh(self, n: int) -> PairBatch:
        """Make views of `n` images drawn at random, or of all there are, without moving the stream."""
        return self._views_of(self._order.random(check_count(n, "n"), self._aside), self._aside)

    def set_aside(self, share: float, most: int, batch: int) -> PairBatch | None:
        """Hold out images chosen at random, and give views of them."""
        rows = rows_aside(len(self.images), share, most, batch, self._seed)
        if rows is None:
            return None
        self._order.keep(others(len(self.images), rows))
        self.largest_batch = self._order.rows
        return self._views_of(rows, stream(self._seed, "pairs", "held-out views"))

    def _views_of(self, rows: Tensor, generator: Generator) -> PairBatch:
        parts = [self._make(part, generator).pairs for part in torch.split(rows, self._chunk)]
        return PairBatch(torch.cat([p.x for p in parts]), torch.cat([p.x_pos for p in parts]))

    def draw(self, n: int, generator: Generator) -> tuple[Parameters, Parameters]:
        """Draw what is done to both views of `n` images; for subclasses whose views share some of it."""
        shape = (n, *self.images.shape[1:])
        return self.augmentation.draw(shape, generator), self.augmentation.draw(shape, generator)

    def tie(self, first: Parameters, second: Parameters) -> Parameters:
        """Give the second views of a process's rows what they share with the first; here nothing."""
        return second

    def _make(self, rows: Tensor, generator: Generator, own: slice = slice(None)) -> Views:
        first, second = (
            {name: values[own] for name, values in drawn.items()} for drawn in self.draw(len(rows), generator)
        )
        second = self.tie(first, second)
        rows = rows[own]
        pixels = as_pixels(
            self.images[rows] if isinstance(self.images, Tensor) else self.images[rows.numpy()]
        )
        x, x_pos = (self.augmentation.apply(pixels, parameters) for parameters in (first, second))
        pairs = PairBatch(x.flatten(1), x_pos.flatten(1)) if self.flat else PairBatch(x, x_pos)
        return Views(pairs, rows, first, second)

    def state(self) -> State:
        """States of the generators, and the position in the epoch."""
        return {**self._order.state(), **super().state()}

    def restore(self, state: State) -> None:
        """Order the epoch of the state again and go to its position in it."""
        self._order.restore(state)
        super().restore(state)
