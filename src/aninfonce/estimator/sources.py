"""Pairs as training takes them: rows of a recording by number, changes of rows, several lags in turn."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from aninfonce._seeds import derive_seed
from aninfonce.estimator.frames import Array
from aninfonce.estimator.pairs import Augment, Pairs, apply_augment, in_float32
from aninfonce.processes import PairBatch
from aninfonce.sources.array_source import ArraySource
from aninfonce.sources.base import PairSource, State


def open_source(kinds: Sequence[Pairs], seed: int, centre: Array | None) -> PairSource:
    """Open pairs for training.

    Args:
        kinds: one or more kinds of pairs; with several, the rows of each batch take turns.
        seed: of their orders.
        centre: constant that is subtracted from all rows, of the shape of one row as the encoder sees it.

    Returns:
        The source.

    """
    sources = [
        _open_kind(pairs, seed if not number else derive_seed(seed, "kind", number) % 2**31, centre)
        for number, pairs in enumerate(kinds)
    ]
    return sources[0] if len(sources) == 1 else TurnsSource(sources)


def _open_kind(pairs: Pairs, seed: int, centre: Array | None) -> PairSource:
    if pairs.augment is not None:
        return AugmentSource(pairs.x, pairs.augment, seed, centre)
    if pairs.lag is None:
        return ArraySource(pairs.batch(centre), seed)
    return ArraySource(LaggedRows(pairs, centre), seed)


class LaggedRows:
    """Pairs of a recording by their numbers: each row is held once, whatever the lags and windows."""

    def __init__(self, pairs: Pairs, centre: Array | None) -> None:
        frames = pairs.frames
        alone = None if centre is None else centre[: centre.shape[0] // frames.window]
        self._rows = in_float32(frames.rows, alone)
        self._frames = frames
        self._anchors, self._positives = pairs.anchors, pairs.positives

    def __len__(self) -> int:
        return len(self._anchors)

    def __getitem__(self, which: Tensor) -> PairBatch:
        """Take some of the pairs."""
        index = which.numpy()
        return PairBatch(self._shown(self._anchors[index]), self._shown(self._positives[index]))

    def _shown(self, index: Array) -> Tensor:
        if self._frames.window == 1:
            return self._rows[torch.from_numpy(index)]
        near = torch.from_numpy(self._frames.neighbours(index))
        return self._rows[near].flatten(1)


class AugmentSource(PairSource):
    """Pairs of a row and a fresh change of it, in a new order each epoch.

    The seed is that of the orders: an augmentation draws its own random numbers.
    """

    def __init__(self, X: Array, augment: Augment, seed: int, centre: Array | None = None) -> None:
        self._rows, self._augment, self._centre = X, augment, centre
        index = torch.arange(len(X))[:, None]
        self._order = ArraySource(PairBatch(index, index), seed)
        self.largest_batch = len(X)

    def _pairs(self, drawn: PairBatch) -> PairBatch:
        x = self._rows[drawn.x[:, 0].numpy()]
        changed = apply_augment(x, self._augment)
        return PairBatch(in_float32(x, self._centre), in_float32(changed, self._centre))

    def next(self, n: int) -> PairBatch:
        """Take the next `n` rows with a change of each."""
        return self._pairs(self._order.next(n))

    def fresh(self, n: int) -> PairBatch:
        """Take up to `n` rows at random with a change of each."""
        return self._pairs(self._order.fresh(n))

    def state(self) -> State:
        """Position in the epoch."""
        return self._order.state()

    def restore(self, state: State) -> None:
        """Go back to a position."""
        self._order.restore(state)


class TurnsSource(PairSource):
    """Kinds of pairs that take turns: row i of a batch is of kind i mod n, as `AlternatingLoss` has it."""

    def __init__(self, sources: Sequence[PairSource]) -> None:
        self._sources = list(sources)
        largest = [source.largest_batch for source in sources if source.largest_batch is not None]
        self.largest_batch = len(sources) * min(largest)

    def _in_turns(self, parts: Sequence[PairBatch]) -> PairBatch:
        n = min(len(part) for part in parts)
        x, x_pos = (
            torch.stack([side[:n] for side in sides], dim=1).flatten(0, 1)
            for sides in zip(*((part.x, part.x_pos) for part in parts), strict=True)
        )
        return PairBatch(x, x_pos)

    def next(self, n: int) -> PairBatch:
        """Take the same number of pairs of each kind, `n` in all or a few less."""
        return self._in_turns([source.next(max(2, n // len(self._sources))) for source in self._sources])

    def fresh(self, n: int) -> PairBatch:
        """Take the same number of pairs of each kind at random, up to `n` in all."""
        return self._in_turns([source.fresh(max(2, n // len(self._sources))) for source in self._sources])

    def state(self) -> State:
        """Positions of all kinds."""
        return {
            f"{number}.{name}": value
            for number, source in enumerate(self._sources)
            for name, value in source.state().items()
        }

    def restore(self, state: State) -> None:
        """Go back to the positions."""
        for number, source in enumerate(self._sources):
            prefix = f"{number}."
            source.restore({k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})
