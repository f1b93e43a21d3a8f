"""What a process hands over: observations in pairs, and the latents behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import torch
from torch import Tensor


@dataclass(frozen=True)
class PairBatch:
    """N pairs of observations and, where known, the latents that caused them.

    Attributes:
        x: anchors (N, D).
        x_pos: their positives (N, D).
        x_neg: hard negatives (N, K, D), if the process has any.
        z: latents of the anchors (N, d), if known.
        z_pos: latents of the positives (N, d), if known.
        z_neg: latents of the hard negatives (N, K, d), if known.

    """

    x: Tensor
    x_pos: Tensor
    x_neg: Tensor | None = None
    z: Tensor | None = None
    z_pos: Tensor | None = None
    z_neg: Tensor | None = None

    def __len__(self) -> int:
        return len(self.x)

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> PairBatch:
        """Move every tensor to a device and, if asked, floating-point ones to a type."""
        return self._map(lambda tensor: tensor.to(device, dtype if tensor.is_floating_point() else None))

    def __getitem__(self, rows: slice | Tensor) -> PairBatch:
        """Take some of the pairs."""
        return self._map(lambda tensor: tensor[rows])

    def _map(self, change: Callable[[Tensor], Tensor]) -> PairBatch:
        changed = {
            field.name: change(getattr(self, field.name))
            for field in fields(self)
            if getattr(self, field.name) is not None
        }
        return PairBatch(**changed)
