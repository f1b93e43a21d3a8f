"""Pairs from sequences: a frame, and one a little later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from aninfonce._seeds import stream
from aninfonce._validation import check_count
from aninfonce.processes import PairBatch
from aninfonce.sources.base import StreamSource
from aninfonce.sources.rows_aside import groups_aside


class SequenceSource(StreamSource):
    """Frames of sequences, each paired with one of the frames that follow it.

    Anchors are drawn from all frames but the last of each sequence, without repetition in a batch. The
    positive comes 1 to `largest_gap` frames later, each equally likely, or is the last frame if there are
    fewer.

    Example:
        >>> steps = np.arange(10.0, dtype=np.float32)[:, None]
        >>> batch = SequenceSource([steps, 100 + steps], largest_gap=2, seed=0).next(5)
        >>> bool(((batch.x_pos - batch.x >= 1) & (batch.x_pos - batch.x <= 2)).all())
        True

    Args:
        sequences: arrays (T, ...) with T ≥ 2, of numbers or booleans.
        latents: known latents of each frame, arrays (T, k).
        largest_gap: frames between anchor and positive, at most.
        seed: draws the pairs.

    """

    def __init__(
        self,
        sequences: Sequence[Any],
        latents: Sequence[Any] | None = None,
        *,
        largest_gap: int = 1,
        seed: int = 0,
    ) -> None:
        super().__init__(seed)
        lengths = [len(sequence) for sequence in sequences]
        if not lengths or min(lengths) < 2:
            raise ValueError(
                f"`sequences` must hold at least one sequence, of 2 frames or more each, got {lengths[:10]}"
            )
        if latents is not None and [len(part) for part in latents] != lengths:
            raise ValueError("`latents` must hold one array per sequence, as long as that sequence")
        self.frames = torch.from_numpy(np.concatenate(sequences))
        self.latents = None if latents is None else torch.from_numpy(np.concatenate(latents))
        self.largest_gap = check_count(largest_gap, "largest_gap")
        self._lengths = torch.tensor(lengths)
        lasts = self._lengths.cumsum(0) - 1
        # The last frame of each frame's sequence.
        self._last = lasts.repeat_interleave(self._lengths)
        self._anchors = (self._last != torch.arange(len(self._last))).nonzero()[:, 0]
        self.anchors = self._anchors
        self.largest_batch = len(self.anchors)

    def next(self, n: int) -> PairBatch:
        """Draw the next `n` pairs, without latents."""
        if check_count(n, "n") > len(self.anchors):
            raise ValueError(f"`n` must be at most the number of anchors, {len(self.anchors)}, got {n}")
        rows, later = self._draw(self.anchors, n, self._stream)
        return PairBatch(self.observations(rows), self.observations(later))

    def fresh(self, n: int) -> PairBatch:
        """Draw `n` pairs, or one with each anchor, with latents if they are known."""
        return self._with_latents(*self._draw(self.anchors, n, self._aside))

    def set_aside(self, share: float, most: int, batch: int) -> PairBatch | None:
        """Hold out whole sequences chosen at random, since frames of one sequence resemble each other."""
        chosen = groups_aside(self._lengths - 1, share, most, batch, self._seed)
        if chosen is None:
            return None
        sequence = torch.arange(len(self._lengths)).repeat_interleave(self._lengths)[self._anchors]
        aside = torch.isin(sequence, chosen)
        self.anchors = self._anchors[~aside]
        self.largest_batch = len(self.anchors)
        own = stream(self._seed, "pairs", "held-out frames")
        return self._with_latents(*self._draw(self._anchors[aside], most, own))

    def observations(self, rows: Tensor) -> Tensor:
        """Take frames as floats, (n, ...)."""
        return self.frames[rows].float()

    def _with_latents(self, rows: Tensor, later: Tensor) -> PairBatch:
        known = {} if self.latents is None else {"z": self.latents[rows], "z_pos": self.latents[later]}
        return PairBatch(self.observations(rows), self.observations(later), **known)

    def _draw(self, anchors: Tensor, n: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw up to `n` rows of anchors, and of their positives."""
        rows = anchors[torch.randperm(len(anchors), generator=generator)[:n]]
        gaps = torch.randint(1, self.largest_gap + 1, (len(rows),), generator=generator)
        return rows, torch.minimum(rows + gaps, self._last[rows])
