"""A loss over many pairs, in blocks of pairs that are each other's negatives."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from aninfonce._validation import check_count
from aninfonce.losses.gather import alone


@alone()
@torch.no_grad()
def mean_over_blocks(
    loss: Callable[[Tensor, Tensor], Tensor], z: Tensor, z_pos: Tensor, *, block: int
) -> float:
    """Mean loss over whole blocks of pairs; an incomplete last block is left out.

    Each of several processes looks only at its own pairs.

    Example:
        >>> from aninfonce.losses import InfoNCE
        >>> z = torch.eye(4)
        >>> mean_over_blocks(InfoNCE(), z, z, block=2) == float(InfoNCE()(z[:2], z[:2]))
        True

    Args:
        loss: of two views, (block, d) each.
        z: anchors (N, d).
        z_pos: positives (N, d).
        block: pairs that are each other's negatives, at most N.

    """
    check_count(block, "block", minimum=2)
    starts = range(0, len(z) - block + 1, block)
    return sum(float(loss(z[i : i + block], z_pos[i : i + block])) for i in starts) / len(starts)
