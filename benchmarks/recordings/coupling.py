"""Pairs of numbers with a given marginal on both sides, whose dependence is exactly quadratic.

The joint density is q(z) q(z⁺) exp(−½Λ(z⁺ − z)²), with q chosen so that both marginals are p: a symmetric
matrix scaled to given sums (Sinkhorn), on a fine grid.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.stats import norm, t

Array = npt.NDArray[np.floating]

_STEP = 0.02
# Mixture of two Gaussians at ±.85, unit variance: two clear humps.
_APART = 0.85
_DEGREES = 5


def density(marginal: str, grid: Array) -> Array:
    """Give a density of zero mean and unit variance on a grid: gauss, uniform, mixture or student."""
    if marginal == "gauss":
        return norm.pdf(grid)
    if marginal == "uniform":
        return np.where(np.abs(grid) <= np.sqrt(3), 1 / np.sqrt(12), 0.0)
    if marginal == "mixture":
        width = np.sqrt(1 - _APART**2)
        return (norm.pdf(grid, _APART, width) + norm.pdf(grid, -_APART, width)) / 2
    if marginal == "student":
        return t.pdf(grid, _DEGREES, scale=np.sqrt((_DEGREES - 2) / _DEGREES))
    raise ValueError(f"`marginal` must be gauss, uniform, mixture or student, got {marginal!r}")


def coupled_pairs(
    marginal: str, concentration: float, n: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draw pairs, (n,) each side: the grid cell of each side by inversion, and a uniform place inside it."""
    grid, mass, cumulative = _coupling(marginal, concentration)
    first = np.searchsorted(np.cumsum(mass), rng.random(n)).clip(max=len(grid) - 1)
    # All rows of the table at once: row i holds the cumulative sums of its own, moved up by i.
    second = np.searchsorted(cumulative, first + rng.random(n)) - first * len(grid)
    inside = (rng.random((2, n)) - 0.5) * (grid[1] - grid[0])
    return grid[first] + inside[0], grid[second.clip(0, len(grid) - 1)] + inside[1]


@lru_cache(maxsize=5)
def _coupling(marginal: str, concentration: float) -> tuple[Array, Array, Array]:
    reach = np.sqrt(3) if marginal == "uniform" else 12.0 if marginal == "student" else 5.0
    cells = round(2 * reach / _STEP)
    grid = (np.arange(cells) + 0.5) * (2 * reach / cells) - reach
    mass = density(marginal, grid)
    mass /= mass.sum()
    kernel = np.exp(-0.5 * concentration * (grid[:, None] - grid) ** 2)
    scale = np.sqrt(mass)
    for _ in range(10_000):
        moved = mass / (kernel @ scale)
        if np.max(np.abs(moved / scale - 1)) < 1e-9:
            break
        # The geometric mean of both steps: without it they take turns for ever.
        scale = np.sqrt(scale * moved)
    joint = scale[:, None] * kernel * scale
    cumulative = np.cumsum(joint / joint.sum(axis=1, keepdims=True), axis=1)
    cumulative /= cumulative[:, -1:]
    return grid, mass, (cumulative + np.arange(cells)[:, None]).ravel()
