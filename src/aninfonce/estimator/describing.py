"""Λ̂ of a finished embedding, on pairs that were not learned by heart where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor, nn

from aninfonce._seeds import derive_seed
from aninfonce.alignment import independent_axes
from aninfonce.diagnostics.concentration import FittedConcentration, few_clusters, fit_concentration
from aninfonce.diagnostics.decay import decay_times
from aninfonce.diagnostics.flat_concentration import fit_flat_concentration
from aninfonce.encoders.embedding import Embedding
from aninfonce.estimator.columns import embed_rows, permute_columns, turn_columns
from aninfonce.estimator.frames import Array, Frames, Index
from aninfonce.estimator.pairs import Pairs
from aninfonce.losses import InfoNCE
from aninfonce.losses.ensemble import members

Floats = npt.NDArray[np.float64]

# Pairs that Λ̂ and its intervals are fitted on, at most.
_MOST_PAIRS = 8192


class Description(NamedTuple):
    """What is known of the columns of a finished embedding."""

    values: Floats
    """Λ̂ (L, d), one row for each kind of pairs."""
    interval: Floats
    """Lower and upper ends (L, d, 2)."""
    blocks: list[Index]
    """Columns that may still be rotated among each other."""
    separated: list[Index]
    """Columns that share their Λ̂ and were told apart by independence."""


def describe(
    encoder: Embedding,
    loss: nn.Module,
    kinds: Sequence[Pairs],
    trained: Pairs,
    seed: int,
    *,
    flat: bool,
    sort: bool,
) -> Description:
    """Fit Λ̂ and its intervals on the frozen embedding, and finish its columns if asked.

    Args:
        encoder: finished but for the order of its columns and, in flat space, turns inside of blocks.
        loss: that goes with it.
        kinds: pairs to look at, best such that were not trained on.
        trained: pairs that were.
        seed: of what is random.
        flat: whether columns have unit variance instead of lying on a sphere.
        sort: whether to bring columns into the order of Λ̂, and to separate blocks; both modules are changed.

    Returns:
        Λ̂, its intervals and blocks.

    """
    some = [pairs.some(_MOST_PAIRS, derive_seed(seed, "description")) for pairs in kinds]
    error = _variance_error(embed_rows(encoder, trained.x), in_time=trained.lag is not None) if flat else None
    parts: Sequence[nn.Module] = members(loss) if len(kinds) > 1 else [loss]
    fits = [
        describe_pairs(encoder, pairs, seed)
        if error is None
        else describe_flat_pairs(encoder, part, pairs, error, seed)
        for part, pairs in zip(parts, some, strict=True)
    ]
    values, interval = np.stack([fit.values for fit in fits]), np.stack([fit.interval for fit in fits])
    if not sort:
        return Description(values, interval, blocks_of_kinds(interval), [])
    order = np.argsort(values[0], kind="stable")
    few = torch.from_numpy(some[0].x[:8])
    permute_columns(encoder, loss, order, few)
    values, interval = values[:, order], interval[:, order]
    blocks = blocks_of_kinds(interval)
    separated: list[Index] = []
    if flat and len(blocks) < len(order):
        turn, blocks, separated = separate_blocks(encoder, some[0], blocks, seed)
        turn_columns(encoder, loss, turn, few)
    return Description(values, interval, blocks, separated)


def blocks_of_kinds(interval: Floats) -> list[Index]:
    """Put columns into one block that no kind of pairs tells apart, directly or through others.

    Example:
        >>> one, other = [[1.0, 2.0], [1.5, 3.0], [8.0, 9.0]], [[1.0, 2.0], [4.0, 5.0], [4.0, 5.0]]
        >>> blocks_of_kinds(np.array([one])), blocks_of_kinds(np.array([one, other]))
        ([array([0, 1]), array([2])], [array([0]), array([1]), array([2])])

    Args:
        interval: of Λ̂, (L, d, 2).

    Returns:
        Columns of each block, in the order of their first.

    """
    low, high = interval[..., 0], interval[..., 1]
    alike = np.logical_and.reduce(
        (low[:, :, None] <= high[:, None]) & (low[:, None] <= high[:, :, None]), axis=0
    )
    count, member = connected_components(alike.astype(np.int8), directed=False)
    return [np.flatnonzero(member == index) for index in range(count)]


def describe_pairs(encoder: Embedding, pairs: Pairs, seed: int) -> FittedConcentration:
    """Fit Λ̂ and its intervals on the frozen embedding of pairs, in whatever order they are.

    Args:
        encoder: finished.
        pairs: not too many.
        seed: of what is random.

    Returns:
        Λ̂ (d,) of the columns as they are, with intervals.

    """
    z, z_pos = embed_rows(encoder, pairs.x), embed_rows(encoder, pairs.x_pos)
    return fit_concentration(
        z, z_pos, clusters=pairs.clusters, apart=pairs.apart, seed=derive_seed(seed, "intervals")
    )


def describe_flat_pairs(
    encoder: Embedding, loss: nn.Module, pairs: Pairs, variance_error: Floats, seed: int
) -> FittedConcentration:
    """Fit Λ̂ of a flat embedding, together with how its candidates are distributed.

    Args:
        encoder: finished, with columns of unit variance on the rows that were trained on.
        loss: of these pairs, whose potential, if it has one, knows the distribution.
        pairs: not too many.
        variance_error: (d,) relative standard error of that unit.
        seed: of what is random.

    Returns:
        Λ̂ (d,) of the columns as they are, with intervals.

    """
    z, z_pos = embed_rows(encoder, pairs.x), embed_rows(encoder, pairs.x_pos)
    potentials = list(loss.potentials) if isinstance(loss, InfoNCE) else []
    return fit_flat_concentration(
        z,
        z_pos,
        potential=potentials[0] if potentials else None,
        clusters=pairs.clusters,
        apart=pairs.apart,
        variance_error=variance_error,
        seed=derive_seed(seed, "intervals"),
    )


def _variance_error(z: Tensor, *, in_time: bool) -> Floats:
    """Relative standard error of each column's variance; of a recording, by the spread of stretches."""
    squares = (z.double() - z.double().mean(dim=0)).square().cpu().numpy()
    stretches = max(2, round(len(squares) ** (1 / 3))) if in_time else len(squares)
    means = np.stack([part.mean(axis=0) for part in np.array_split(squares, stretches)])
    error: Floats = means.std(axis=0, ddof=1) / np.sqrt(stretches) / squares.mean(axis=0)
    return few_clusters(stretches) * error


def separate_blocks(
    encoder: Embedding, pairs: Pairs, blocks: list[Index], seed: int
) -> tuple[Floats, list[Index], list[Index]]:
    """Turn the columns inside blocks of equal Λ̂ to independent ones, where that is to be trusted.

    Of a recording, innovations are looked at instead of the columns: what drives a slow factor may be far
    from Gaussian where the factor, a sum of much of it, is not.

    Args:
        encoder: finished, of a flat embedding.
        pairs: not too many.
        blocks: columns that share a Λ̂.
        seed: of what is random.

    Returns:
        A rotation (d, d) for columns; the blocks, of which one that was separated is now one for each column;
        and the blocks that were.

    """
    z, z_pos = (embed_rows(encoder, x).double().cpu().numpy() for x in (pairs.x, pairs.x_pos))
    turn, left, separated = np.eye(z.shape[1]), [], []
    for block in blocks:
        columns, later = z[:, block], z_pos[:, block]
        phi = (columns * later).sum(axis=0) / (columns**2).sum(axis=0)
        samples = columns if pairs.lag is None else later - phi * columns
        axes = independent_axes(samples, seed=derive_seed(seed, "independent") % 2**31)
        if axes.trusted:
            turn[np.ix_(block, block)] = axes.rotation
            left += [block[i : i + 1] for i in range(len(block))]
            separated.append(block)
        else:
            left.append(block)
    return turn, left, separated


def times_of_columns(encoder: Embedding, frames: Frames, lag: int | None) -> Floats:
    """Measure how long columns remember, (d, 3): in rows, with both ends; (0, 3) without a lag."""
    if lag is None:
        return np.empty((0, 3))
    columns = embed_rows(encoder, frames).double().cpu().numpy()
    columns[~frames.usable] = np.nan
    return decay_times(columns, frames.session, lag)


def sixth_moments(encoder: Embedding, rows: Array) -> Floats:
    """Sixth moments of the columns, brought to unit variance, (d,)."""
    z = embed_rows(encoder, rows).double().cpu().numpy()
    z = (z - z.mean(axis=0)) / np.maximum(z.std(axis=0), 1e-300)
    moments: Floats = (z**6).mean(axis=0)
    return moments
