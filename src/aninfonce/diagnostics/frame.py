"""The axes of a frozen embedding along which its pairs vary independently."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from aninfonce.alignment.metric import fit_metric
from aninfonce.diagnostics.concentration import FittedConcentration, fit_concentration
from aninfonce.diagnostics.intervals import Matrix

# Directions beyond this hold little variance, and a full metric over all of a wide embedding would take long.
_MOST_DIRECTIONS = 16
# Share of the largest variance below which a direction counts as empty.
_EMPTY = 1e-8
_BLOCK = 256


@dataclass(frozen=True)
class Frame:
    """Half of the pairs in the axes that were fitted on the other half.

    Attributes:
        z: embeddings (N/2, k), turned; k is at most 16, the directions of most variance.
        z_pos: of the positives.
        concentration: Λ̂ (k,) of this half, with intervals.
        kept: share of the embedding's variance in these directions.
        fitted_on: the other half, embeddings and positives (N/2, k), in the same axes.

    """

    z: Matrix
    z_pos: Matrix
    concentration: FittedConcentration
    kept: float
    fitted_on: tuple[Matrix, Matrix]


def fit_frame(z: Matrix, z_pos: Matrix, *, seed: int = 0) -> Frame | None:
    """Fit axes on even pairs and Λ̂ on odd ones, so that neither flatters the other.

    Args:
        z: embeddings (N, d) of length about 1.
        z_pos: of the positives, (N, d).
        seed: of the bootstrap.

    Returns:
        The frame; None if the embedding does not vary.

    """
    values, vectors = np.linalg.eigh(np.cov(z.T).reshape(z.shape[1], z.shape[1]))
    order = np.argsort(values)[::-1][:_MOST_DIRECTIONS]
    order = order[values[order] > _EMPTY * max(values.max(), 0.0)]
    if not len(order) or values.max() <= _EMPTY:
        return None
    basis = vectors[:, order]
    a, p = z @ basis, z_pos @ basis
    start = 1.0 / np.maximum(((a - p) ** 2).mean(axis=0), 1e-9)
    halves = [torch.from_numpy(part[half::2].copy()) for half in (0, 1) for part in (a, p)]
    block = even_block(min(len(half) for half in halves), _BLOCK)
    full = fit_metric(halves[0], halves[1], torch.from_numpy(start), block=block, iterations=30)
    _, axes = torch.linalg.eigh(full.matrix)
    turned, turned_pos = halves[2] @ axes, halves[3] @ axes
    return Frame(
        z=turned.numpy(),
        z_pos=turned_pos.numpy(),
        concentration=fit_concentration(turned, turned_pos, block=block, seed=seed),
        kept=float(values[order].sum() / values.clip(min=0.0).sum()),
        fitted_on=((halves[0] @ axes).numpy(), (halves[1] @ axes).numpy()),
    )


def even_block(n: int, most: int) -> int:
    """Size of blocks that n rows are cut into, so that hardly a row is left over.

    Example:
        >>> even_block(1000, 256), even_block(100, 256)
        (250, 100)

    """
    return n // -(-n // most)
