"""Whether latents of different Λ stayed apart, and those of equal Λ were only rotated."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from aninfonce._validation import check_number
from aninfonce.metrics._arrays import (
    Array,
    Matrix,
    as_matrix,
    as_vector,
    constant_columns,
    constant_flags,
    resolution,
)
from aninfonce.metrics._result import Result
from aninfonce.metrics.regression import predict_least_squares


@dataclass(frozen=True, repr=False)
class BlockOrthogonality(Result):
    """Distance of the map from latents to embedding from the nearest block-orthogonal one.

    Attributes:
        residual: root-mean-square distance, ‖A − Q‖/√d with Q the nearest block-orthogonal matrix; 0 is
            perfect, 1 is what A = 0 gets.
        off_block_energy: share of ‖A‖² that leads from one block of latents into another; 0 is perfect.
        within_block_deviation: the part of the residual inside the blocks, ‖A_blocks − Q‖/√d.
        per_block: RMS deviation from orthogonality of each block, in the order of `blocks`.
        blocks: latent indices of each block, in increasing order of Λ.
        matching: embedding dimension matched to each latent by sorting Λ̂ and Λ.
        fit_r2: how much of the embedding the linear map explains; where it is low the embedding is not a
            linear function of the latents, and A says little.
        map: (d, d) array A; row i leads to the embedding dimension matched to latent i, column j comes from
            latent j.
        flags: everything unusual about the input, in words; empty if all is well.

    """

    residual: float
    off_block_energy: float
    within_block_deviation: float
    per_block: tuple[float, ...]
    blocks: tuple[tuple[int, ...], ...]
    matching: tuple[int, ...]
    fit_r2: float
    map: Matrix = field(repr=False, compare=False)
    flags: tuple[str, ...] = ()

    def __float__(self) -> float:
        return self.residual


def block_orthogonality(
    latents: Array,
    embeddings: Array,
    concentration: Array,
    concentration_hat: Array,
    *,
    tolerance: float = 1e-6,
) -> BlockOrthogonality:
    """Residual of the fitted map from latents to embedding from a block-orthogonal one.

    Identifiability promises just this: Λ̂ is Λ reordered, and the embedding is the latents up to an
    orthogonal map within each block of equal Λ. The map is fitted by least squares with intercept, its rows
    are put in the order in which the sorted Λ̂ meets the sorted Λ, and the nearest block-orthogonal matrix is
    the polar factor of each diagonal block. Latents and embedding must have one scale, as on the unit sphere.

    Example:
        >>> import numpy as np
        >>> z = np.random.default_rng(0).normal(size=(500, 3))
        >>> c, s = np.cos(0.3), np.sin(0.3)
        >>> rotated = np.stack([z[:, 2], c * z[:, 0] - s * z[:, 1], s * z[:, 0] + c * z[:, 1]], axis=1)
        >>> truth, learned = np.array([5.0, 5.0, 25.0]), np.array([24.8, 5.1, 5.0])
        >>> score = block_orthogonality(z, rotated, truth, learned)
        >>> score.residual < 1e-8, score.blocks
        (True, ((0, 1), (2,)))

    Args:
        latents: (N, d) true latents, array or tensor.
        embeddings: (N, d) embedding of the same N samples.
        concentration: (d,) true diagonal of Λ.
        concentration_hat: (d,) learned diagonal of Λ̂.
        tolerance: Λ entries that differ by no more than this, relatively, share a block.

    Returns:
        A `BlockOrthogonality`. Invariant to orthogonal maps within blocks and to reordering of the embedding
        together with Λ̂.

    """
    z = as_matrix(latents, "latents", min_rows=2, squares=True)
    d = z.shape[1]
    e = as_matrix(embeddings, "embeddings", rows=("latents", len(z)), columns=("latents", d), squares=True)
    truth = as_vector(concentration, "concentration", length=("latents", d), minimum=0.0)
    learned = as_vector(concentration_hat, "concentration_hat", length=("latents", d), minimum=0.0)
    check_number(tolerance, "tolerance", minimum=0.0)

    order = np.argsort(truth, kind="stable")
    matching = np.empty(d, dtype=np.intp)
    matching[order] = np.argsort(learned, kind="stable")
    blocks = _group(truth, order, tolerance)

    rounding = resolution(latents)
    constant_e = constant_columns(e, resolution(embeddings))
    flags = constant_flags("latents", constant_columns(z, rounding))
    flags += constant_flags("embedding dimensions", constant_e)
    e = e[:, matching]
    largest = np.abs(z).max(axis=0)
    z = z / np.where(largest > 0, largest, 1.0)
    # Predicting at the unit vectors and at the origin reads off the coefficients.
    probes = np.concatenate([np.zeros((1, d)), np.eye(d)])
    at_probes, rank = predict_least_squares(z, e, np.concatenate([z, probes]), rounding)
    linear_map: Matrix = (at_probes[-d:] - at_probes[-d - 1]).T / np.where(largest > 0, largest, 1.0)
    if rank < d:
        flags.append(f"latents have rank {rank} of {d}: the map is not determined")
    residual_variance = float(((e - at_probes[: len(z)]) ** 2).sum())
    variance = float(((e - e.mean(axis=0)) ** 2).sum())

    nearest = np.zeros_like(linear_map)
    inside = np.zeros_like(linear_map, dtype=bool)
    per_block = []
    for block in blocks:
        square = np.ix_(block, block)
        left, _, right = np.linalg.svd(linear_map[square])
        nearest[square] = left @ right
        inside[square] = True
        per_block.append(_norm(linear_map[square] - nearest[square]) / math.sqrt(len(block)))
    return BlockOrthogonality(
        residual=_norm(linear_map - nearest) / math.sqrt(d),
        off_block_energy=(_norm(linear_map[~inside]) / (_norm(linear_map) or 1.0)) ** 2,
        within_block_deviation=_norm((linear_map - nearest)[inside]) / math.sqrt(d),
        per_block=tuple(per_block),
        blocks=tuple(tuple(block) for block in blocks),
        matching=tuple(int(index) for index in matching),
        fit_r2=0.0 if constant_e.all() or variance == 0 else 1.0 - residual_variance / variance,
        map=linear_map,
        flags=tuple(flags),
    )


def _norm(entries: Matrix) -> float:
    """Root of the sum of squares, none of which can overflow."""
    largest = float(np.abs(entries).max(initial=0.0))
    return largest * float(np.sqrt(((entries / largest) ** 2).sum())) if largest > 0 else 0.0


def _group(
    values: Matrix, order: np.ndarray[tuple[int], np.dtype[np.intp]], tolerance: float
) -> list[list[int]]:
    """List the indices of equal values, smallest first; a block is measured from its smallest value."""
    blocks: list[list[int]] = []
    for index in order.tolist():
        if blocks and values[index] <= values[blocks[-1][0]] * (1 + tolerance):
            blocks[-1].append(index)
        else:
            blocks.append([index])
    return [sorted(block) for block in blocks]
