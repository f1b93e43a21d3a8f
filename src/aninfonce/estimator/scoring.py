"""How well positives are found among negatives, in bits."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor, nn


@torch.no_grad()
def bits_above_chance(loss: nn.Module, z: Tensor, z_pos: Tensor, *, block: int = 512) -> float:
    """Bits that the embedding tells about which candidate is the positive.

    0 for guessing; at most log₂ of the number of candidates. It is the lower bound of InfoNCE on the mutual
    information of a pair.

    Example:
        >>> from aninfonce.losses import AnInfoNCE
        >>> z = torch.randn(512, 3, generator=torch.Generator().manual_seed(0))
        >>> round(bits_above_chance(AnInfoNCE(3, initial=1e9), z, z), 3)  # pairs coincide: log2 of 512
        9.0

    Args:
        loss: of the InfoNCE family.
        z: embeddings (N, d) of anchors.
        z_pos: of their positives, (N, d).
        block: pairs that are each other's negatives; all of them if there are fewer.

    Returns:
        Bits a pair.

    """
    if len(z) < 2:
        raise ValueError(f"the score needs at least 2 pairs, got {len(z)}")
    block = min(block, len(z))
    # Neighbours in time would be hard negatives of each other if rows stayed in their order.
    order = torch.randperm(len(z), generator=Generator().manual_seed(0)).to(z.device)
    starts = range(0, len(z) - block + 1, block)
    blocks = [order[i : i + block] for i in starts]
    mean = sum(float(loss(z[rows], z_pos[rows])) for rows in blocks) / len(blocks)
    # A constant embedding guesses, whatever candidates the loss counts.
    constant = torch.ones_like(z[:block])
    return (float(loss(constant, constant)) - mean) / math.log(2.0)
