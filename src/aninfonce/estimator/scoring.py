"""How well positives are found among negatives, in bits."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from aninfonce.diagnostics.negatives import spread_blocks


@torch.no_grad()
def bits_above_chance(
    loss: nn.Module, z: Tensor, z_pos: Tensor, *, block: int = 512, apart: int = 1
) -> float:
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
        block: pairs that are each other's negatives, at most.
        apart: rows between any two of these, at least, for pairs in the order of time.

    Returns:
        Bits a pair; minus infinity if the embedding is not finite.

    """
    if len(z) < 2:
        raise ValueError(f"the score needs at least 2 pairs, got {len(z)}")
    if not bool(torch.isfinite(z.sum() + z_pos.sum())):
        return -math.inf
    blocks = torch.from_numpy(spread_blocks(len(z), block, apart)).to(z.device)
    mean = sum(float(loss(z[rows], z_pos[rows])) for rows in blocks) / len(blocks)
    # A constant embedding guesses, whatever candidates the loss counts.
    constant = torch.ones_like(z[blocks[0]])
    return (float(loss(constant, constant)) - mean) / math.log(2.0)
