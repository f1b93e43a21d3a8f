"""Runs compared by what they tell about the same held-out pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aninfonce._seeds import derive_seed
from aninfonce.estimator.columns import embed_rows
from aninfonce.estimator.fitting import Trained
from aninfonce.estimator.scoring import bits_by_block
from aninfonce.losses.ensemble import members

Floats = npt.NDArray[np.float64]

# Pairs that are each other's negatives: few, so that there are many blocks to tell a difference from chance
# by; fewer still where there are few pairs.
_BLOCK, _SMALLEST_BLOCK, _BLOCKS = 64, 8, 8
_MOST_PAIRS = 8192


def held_out_bits(run: Trained) -> Floats:
    """Score a run on blocks of its held-out pairs, all kinds one after another, in bits (B,).

    Runs that hold out the same pairs are scored on the same blocks.
    """
    assert run.held_out is not None
    encoder, loss = run.fitted.encoder, run.fitted.loss
    parts = members(loss) if len(run.held_out) > 1 else [loss]
    scores: list[float] = []
    for part, pairs in zip(parts, run.held_out, strict=True):
        some = pairs.some(_MOST_PAIRS, derive_seed(0, "compared"))
        z, z_pos = embed_rows(encoder, some.x), embed_rows(encoder, some.x_pos)
        block = min(_BLOCK, max(_SMALLEST_BLOCK, len(some) // _BLOCKS))
        scores += bits_by_block(part, z, z_pos, block=block, apart=some.apart)
    return np.array(scores)


def standard_error(differences: Floats) -> float:
    """Estimate the standard error of a mean over blocks; 0 for a single one.

    Example:
        >>> round(standard_error(np.array([1.0, 2.0, 3.0])), 3), standard_error(np.array([1.0]))
        (0.577, 0.0)

    """
    return float(differences.std(ddof=min(1, len(differences) - 1)) / np.sqrt(len(differences)))
