"""Pairs from sequences: a frame, and one a little later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from aninfonce._validation import check_count
from aninfonce.processes import PairBatch
from aninfonce.training.source import StreamSource


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
        latents: what is known of each frame, arrays (T, k).
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
            raise ValueError("`latents` must hold one array a sequence, as long as the sequence is")
        self.frames = torch.from_numpy(np.concatenate(sequences))
        self.latents = None if latents is None else torch.from_numpy(np.concatenate(latents))
        self.largest_gap = check_count(largest_gap, "largest_gap")
        lasts = torch.tensor(lengths).cumsum(0) - 1
        # The last frame of each frame's sequence.
        self._last = lasts.repeat_interleave(torch.tensor(lengths))
        self.anchors = (self._last != torch.arange(len(self._last))).nonzero()[:, 0]
        self.largest_batch = len(self.anchors)

    def next(self, n: int) -> PairBatch:
        """Draw the next `n` pairs, without latents."""
        if check_count(n, "n") > len(self.anchors):
            raise ValueError(f"`n` must be at most the number of anchors, {len(self.anchors)}, got {n}")
        rows, later = self._draw(n, self._stream)
        return PairBatch(self.observations(rows), self.observations(later))

    def fresh(self, n: int) -> PairBatch:
        """Draw `n` pairs, or one with each anchor, with latents if they are known."""
        rows, later = self._draw(min(n, len(self.anchors)), self._aside)
        known = {} if self.latents is None else {"z": self.latents[rows], "z_pos": self.latents[later]}
        return PairBatch(self.observations(rows), self.observations(later), **known)

    def observations(self, rows: Tensor) -> Tensor:
        """Take frames as floats, (n, ...)."""
        return self.frames[rows].float()

    def _draw(self, n: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw rows of anchors, and of their positives."""
        rows = self.anchors[torch.randperm(len(self.anchors), generator=generator)[:n]]
        gaps = torch.randint(1, self.largest_gap + 1, (len(rows),), generator=generator)
        return rows, torch.minimum(rows + gaps, self._last[rows])
