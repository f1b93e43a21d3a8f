"""How well positives are found among negatives, in bits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from aninfonce.diagnostics.negatives import spread_blocks
from aninfonce.losses.ensemble import by_kind

Embedded = tuple[Tensor, Tensor, int]


def bits_of_kinds(loss: nn.Module, kinds: Sequence[Embedded]) -> float:
    """Mean of `bits_above_chance` over kinds of pairs, each with its own part of the loss.

    Of each kind: embeddings of anchors and positives, (N, d) each, and how far apart negatives must be.
    """
    scores = [
        bits_above_chance(part, z, z_pos, apart=apart) for part, (z, z_pos, apart) in by_kind(loss, kinds)
    ]
    return sum(scores) / len(scores)


@torch.no_grad()
def bits_above_chance(
    loss: nn.Module, z: Tensor, z_pos: Tensor, *, block: int = 512, apart: int = 1
) -> float:
    """Bits that the embedding tells about which candidate is the positive.

    0 for guessing; at most log₂ of the number of candidates. It is InfoNCE's lower bound on the mutual
    information of the two sides of a pair.

    Example:
        >>> from aninfonce.losses import AnInfoNCE
        >>> z = torch.randn(512, 3, generator=torch.Generator().manual_seed(0))
        >>> round(bits_above_chance(AnInfoNCE(3, initial=1e9), z, z), 3)  # pairs coincide: log2 of 512
        9.0

    Args:
        loss: of the InfoNCE family.
        z: embeddings (N, d) of anchors.
        z_pos: of their positives, (N, d).
        block: most pairs that are each other's negatives.
        apart: least distance in rows between two of these, for pairs in the order of time.

    Returns:
        Bits per pair; minus infinity if the embedding is not finite.

    """
    scores = bits_by_block(loss, z, z_pos, block=block, apart=apart)
    return sum(scores) / len(scores)


@torch.no_grad()
def bits_by_block(loss: nn.Module, z: Tensor, z_pos: Tensor, *, block: int, apart: int = 1) -> list[float]:
    """Give the score of each block of pairs that are each other's negatives; see `bits_above_chance`."""
    if len(z) < 2:
        raise ValueError(f"the score needs at least 2 pairs, got {len(z)}")
    blocks = torch.from_numpy(spread_blocks(len(z), block, apart)).to(z.device)
    if not bool(torch.isfinite(z.sum() + z_pos.sum())):
        return [-math.inf] * len(blocks)
    # A constant embedding can only guess, whichever candidates the loss counts.
    constant = torch.ones_like(z[blocks[0]])
    chance = float(loss(constant, constant))
    return [(chance - float(loss(z[rows], z_pos[rows]))) / math.log(2.0) for rows in blocks]
