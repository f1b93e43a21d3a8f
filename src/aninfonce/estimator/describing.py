"""What is known of the columns of a finished embedding: Λ̂ with intervals, blocks, time constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from aninfonce._seeds import derive_seed
from aninfonce.alignment import independent_axes
from aninfonce.alignment.columns import carry_loss, last_layer, permute_columns
from aninfonce.diagnostics import FittedConcentration, decay_times, fit_concentration, shared_blocks
from aninfonce.diagnostics.flat_concentration import fit_flat_concentration
from aninfonce.diagnostics.intervals import few_clusters
from aninfonce.encoders.embedding import Embedding, compose_affine
from aninfonce.estimator.frames import Array, Floats, Frames, Index, embed_columns, embed_rows
from aninfonce.estimator.pairs import Pairs
from aninfonce.losses import InfoNCE
from aninfonce.losses.ensemble import by_kind

# Pairs that Λ̂ and its intervals are fitted on, at most.
_MOST_PAIRS = 8192


class Description(NamedTuple):
    """What is known of the columns of a finished embedding."""

    values: Floats
    """Λ̂ (L, d), one row for each kind of pairs."""
    interval: Floats
    """Lower and upper ends (L, d, 2)."""
    blocks: list[Index]
    """Columns that may still be rotated among themselves."""
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
        encoder: finished but for the order of its columns and, in flat space, rotations inside blocks.
        loss: of the encoder.
        kinds: pairs to fit on, preferably held-out ones.
        trained: pairs of the first kind that were trained on.
        seed: of everything random.
        flat: whether columns have unit variance instead of lying on a sphere.
        sort: whether to sort columns by Λ̂ and separate blocks; encoder and loss are changed in place.

    """
    some = [pairs.some(_MOST_PAIRS, derive_seed(seed, "description")) for pairs in kinds]
    error = _variance_error(embed_rows(encoder, trained.x), in_time=trained.lag is not None) if flat else None
    fits = [describe_pairs(encoder, pairs, seed, part, error) for part, pairs in by_kind(loss, some)]
    values, interval = np.stack([fit.values for fit in fits]), np.stack([fit.interval for fit in fits])
    if not sort:
        return Description(values, interval, blocks_of_columns(interval), [])
    order = np.argsort(values[0], kind="stable")
    last = last_layer(encoder, torch.from_numpy(some[0].x[:8]), len(order))
    permute_columns(encoder, last, loss, torch.from_numpy(order).to(last.weight.device))
    values, interval = values[:, order], interval[:, order]
    blocks = blocks_of_columns(interval)
    separated: list[Index] = []
    if flat and len(blocks) < len(order):
        turn, blocks, separated = separate_blocks(encoder, some[0], blocks, seed)
        matrix = torch.from_numpy(turn.T.copy()).to(last.weight.device)
        compose_affine(last, matrix, torch.zeros_like(matrix[0]))
        carry_loss(loss, matrix, torch.zeros_like(matrix[0]))
    return Description(values, interval, blocks, separated)


def blocks_of_columns(interval: Floats) -> list[Index]:
    """Find blocks that no kind of pairs tells apart, in the order of columns; see `shared_blocks`."""
    return sorted(shared_blocks(interval), key=min)


def describe_pairs(
    encoder: Embedding,
    pairs: Pairs,
    seed: int,
    loss: nn.Module | None = None,
    variance_error: Floats | None = None,
) -> FittedConcentration:
    """Fit Λ̂ (d,) and its intervals on the frozen embedding of pairs, whatever their order.

    Args:
        encoder: finished.
        pairs: not too many.
        seed: of everything random.
        loss: of these pairs; its potential, if it has one, knows how candidates are distributed.
        variance_error: (d,) for a flat embedding: relative standard error of its columns' unit variance.

    """
    z, z_pos = pairs.embedded(encoder)
    shared: dict[str, Any] = {"clusters": pairs.clusters, "apart": pairs.apart}
    shared["seed"] = derive_seed(seed, "intervals")
    if variance_error is None:
        return fit_concentration(z, z_pos, **shared)
    potential = next(iter(loss.potentials), None) if isinstance(loss, InfoNCE) else None
    return fit_flat_concentration(z, z_pos, potential=potential, variance_error=variance_error, **shared)


def _variance_error(z: Tensor, *, in_time: bool) -> Floats:
    """Relative standard error (d,) of each column's variance; of a recording, by the spread of stretches."""
    squares = (z.double() - z.double().mean(dim=0)).square().cpu().numpy()
    stretches = max(2, round(len(squares) ** (1 / 3))) if in_time else len(squares)
    means = np.stack([part.mean(axis=0) for part in np.array_split(squares, stretches)])
    error: Floats = means.std(axis=0, ddof=1) / np.sqrt(stretches) / squares.mean(axis=0)
    return few_clusters(stretches) * error


def separate_blocks(
    encoder: Embedding, pairs: Pairs, blocks: list[Index], seed: int
) -> tuple[Floats, list[Index], list[Index]]:
    """Rotate the columns inside blocks of equal Λ̂ to independent ones, where the result can be trusted.

    For a recording, innovations are used instead of the columns: what drives a slow factor may be far from
    Gaussian, while the factor itself, a sum over many innovations, is nearly so.

    Returns:
        A rotation (d, d) of the columns; the blocks, where each column of a separated one is now its own; and
        the blocks that were separated.

    """
    z, z_pos = embed_columns(encoder, pairs.x), embed_columns(encoder, pairs.x_pos)
    turn, left, separated = np.eye(z.shape[1]), [], []
    for block in blocks:
        columns, later = z[:, block], z_pos[:, block]
        phi = (columns * later).sum(axis=0) / (columns**2).sum(axis=0)
        samples = columns if pairs.lag is None else later - phi * columns
        axes = independent_axes(samples, seed=derive_seed(seed, "independent") % 2**31)
        if axes.trusted:
            turn[np.ix_(block, block)] = axes.rotation
            left += np.split(block, len(block))
            separated.append(block)
        else:
            left.append(block)
    return turn, left, separated


def times_of_columns(encoder: Embedding, frames: Frames, lag: int | None) -> Floats:
    """Measure how long columns remember, in rows: (d, 3) with both ends, or (0, 3) without a lag."""
    if lag is None:
        return np.empty((0, 3))
    columns = embed_columns(encoder, frames)
    columns[~frames.usable] = np.nan
    return decay_times(columns, frames.session, lag)


def sixth_moments(encoder: Embedding, rows: Array) -> Floats:
    """Sixth moments of the columns, scaled to unit variance, (d,)."""
    z = embed_columns(encoder, rows)
    z = (z - z.mean(axis=0)) / np.maximum(z.std(axis=0), 1e-300)
    moments: Floats = (z**6).mean(axis=0)
    return moments
