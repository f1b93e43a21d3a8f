"""Λ̂ of a finished embedding, on pairs that were not learned by heart where there are any."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from aninfonce._seeds import derive_seed
from aninfonce.alignment import independent_axes
from aninfonce.diagnostics.concentration import FittedConcentration, fit_concentration, shared_blocks
from aninfonce.diagnostics.flat_concentration import fit_flat_concentration
from aninfonce.estimator.embedding import embed_rows, permute_columns, turn_columns
from aninfonce.estimator.pairs import Array, Pairs
from aninfonce.losses import InfoNCE
from aninfonce.training.model import Embedding

# Pairs that Λ̂ and its intervals are fitted on, at most.
_MOST_PAIRS = 8192


class Description(NamedTuple):
    """What is known of the columns of a finished embedding."""

    values: npt.NDArray[np.float64]
    """Λ̂ (d,)."""
    interval: npt.NDArray[np.float64]
    """Lower and upper ends (d, 2)."""
    blocks: list[npt.NDArray[np.intp]]
    """Columns that may still be rotated among each other."""


def describe(
    encoder: Embedding, loss: nn.Module, space: str, pairs: Pairs, rows: Array, seed: int, *, sort: bool
) -> Description:
    """Fit Λ̂ and its intervals on the frozen embedding, and finish its columns if asked.

    Args:
        encoder: finished but for the order of its columns and, in flat space, turns inside of blocks.
        loss: that goes with it.
        space: where the embedding lives.
        pairs: to look at, best such that were not trained on.
        rows: (N, D) that were.
        seed: of what is random.
        sort: whether to bring columns into the order of Λ̂, and to separate blocks; both modules are changed.

    Returns:
        Λ̂, its intervals and blocks.

    """
    flat = space == "flat"
    found = (
        describe_flat_pairs(encoder, loss, pairs, rows, seed)
        if flat
        else describe_pairs(encoder, pairs, seed)
    )
    if not sort:
        return Description(found.values, found.interval, shared_blocks(found.interval))
    order = np.argsort(found.values, kind="stable")
    few = torch.from_numpy(pairs.x[:8])
    permute_columns(encoder, loss, order, few)
    interval = found.interval[order]
    blocks = shared_blocks(interval)
    if flat and len(blocks) < len(order):
        turn, blocks = separate_blocks(encoder, pairs, blocks, seed)
        turn_columns(encoder, loss, turn, few)
    return Description(found.values[order], interval, blocks)


def describe_pairs(encoder: Embedding, pairs: Pairs, seed: int) -> FittedConcentration:
    """Fit Λ̂ and its intervals on the frozen embedding of some of the pairs, in whatever order they are.

    Args:
        encoder: finished.
        pairs: any number; 8192 of them, taken at random, are used.
        seed: of what is random.

    Returns:
        Λ̂ (d,) of the columns as they are, with intervals.

    """
    some = pairs.some(_MOST_PAIRS, derive_seed(seed, "description"))
    z, z_pos = embed_rows(encoder, some.x), embed_rows(encoder, some.x_pos)
    return fit_concentration(
        z, z_pos, clusters=some.clusters, apart=some.apart, seed=derive_seed(seed, "intervals")
    )


def describe_flat_pairs(
    encoder: Embedding, loss: nn.Module, pairs: Pairs, rows: Array, seed: int
) -> FittedConcentration:
    """Fit Λ̂ of a flat embedding, together with how its candidates are distributed.

    Args:
        encoder: finished, with columns of unit variance on the rows that were trained on.
        loss: whose potential, if it has one, knows the distribution.
        pairs: any number; 8192 of them, taken at random, are used.
        rows: (N, D) that brought the columns to unit variance, in the order of time if they have one.
        seed: of what is random.

    Returns:
        Λ̂ (d,) of the columns as they are, with intervals.

    """
    some = pairs.some(_MOST_PAIRS, derive_seed(seed, "description"))
    z, z_pos = embed_rows(encoder, some.x), embed_rows(encoder, some.x_pos)
    potentials = list(loss.potentials) if isinstance(loss, InfoNCE) else []
    return fit_flat_concentration(
        z,
        z_pos,
        potential=potentials[0] if potentials else None,
        clusters=some.clusters,
        apart=some.apart,
        variance_error=_variance_error(embed_rows(encoder, rows), in_time=pairs.recording is not None),
        seed=derive_seed(seed, "intervals"),
    )


def _variance_error(z: Tensor, *, in_time: bool) -> npt.NDArray[np.float64]:
    """Relative standard error of each column's variance; of a recording, by the spread of stretches."""
    squares = (z.double() - z.double().mean(dim=0)).square().cpu().numpy()
    stretches = max(2, round(len(squares) ** (1 / 3))) if in_time else len(squares)
    means = np.stack([part.mean(axis=0) for part in np.array_split(squares, stretches)])
    error: npt.NDArray[np.float64] = means.std(axis=0, ddof=1) / np.sqrt(stretches) / squares.mean(axis=0)
    return error


def separate_blocks(
    encoder: Embedding, pairs: Pairs, blocks: list[npt.NDArray[np.intp]], seed: int
) -> tuple[npt.NDArray[np.float64], list[npt.NDArray[np.intp]]]:
    """Turn the columns inside blocks of equal Λ̂ to independent ones, where that is to be trusted.

    Of a recording, innovations are looked at instead of the columns: what drives a slow factor may be far
    from Gaussian where the factor, a sum of much of it, is not.

    Args:
        encoder: finished, of a flat embedding.
        pairs: any number; 8192 of them are used.
        blocks: columns that share a Λ̂.
        seed: of what is random.

    Returns:
        A rotation (d, d) for columns, and the blocks: one that was separated is now one for each column.

    """
    some = pairs.some(_MOST_PAIRS, derive_seed(seed, "description"))
    z, z_pos = (embed_rows(encoder, x).double().cpu().numpy() for x in (some.x, some.x_pos))
    turn, left = np.eye(z.shape[1]), []
    for block in blocks:
        columns, later = z[:, block], z_pos[:, block]
        phi = (columns * later).sum(axis=0) / (columns**2).sum(axis=0)
        samples = columns if pairs.recording is None else later - phi * columns
        axes = independent_axes(samples, seed=derive_seed(seed, "independent") % 2**31)
        if axes.trusted:
            turn[np.ix_(block, block)] = axes.rotation
            left += [block[i : i + 1] for i in range(len(block))]
        else:
            left.append(block)
    return turn, left
