"""Axes inside a block of equal Λ, from independence: linear ICA, and whether to trust it.

Second moments cannot tell factors of equal Λ apart. If they are independent and not Gaussian, linear ICA can;
if they are Gaussian it turns them by chance. So the axes are found on one half of the rows and judged on the
other: there each must look less Gaussian than chance allows, and both halves must find the same axes.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.stats import chi2
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

Matrix = npt.NDArray[np.float64]

# Chance that Gaussian columns pass for independent factors, for each column.
_FALSE_ALARM = 0.001
# Cosine between the axes that two halves of the rows found, at least.
_AGREEMENT = 0.9
# Fewest rows in a half.
_FEWEST_ROWS = 200
_STARTS = 3


class IndependentAxes(NamedTuple):
    """A rotation of a block's columns, and the evidence for it."""

    rotation: Matrix
    """(k, k): columns after it are `block @ rotation`."""
    agreement: float
    """Smallest cosine between matched axes of two halves of the rows, 0 to 1."""
    p_values: tuple[float, ...]
    """That a column is Gaussian, one per column, judged on rows that its axis was not found on; ascending."""
    trusted: bool
    """Whether the axes are more than chance: at most one column may be Gaussian."""


def independent_axes(samples: Matrix, *, seed: int = 0) -> IndependentAxes:
    """Rotate uncorrelated columns to independent ones by FastICA, and tell whether to trust the result.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> turn = np.array([[0.8, -0.6], [0.6, 0.8]])
        >>> found = independent_axes(rng.laplace(size=(4000, 2)) @ turn)
        >>> found.trusted, bool((np.abs(turn @ found.rotation).max(axis=0) > 0.99).all())
        (True, True)
        >>> independent_axes(rng.normal(size=(4000, 2))).trusted
        False

    Args:
        samples: (N, k) columns of about equal variance, uncorrelated: the block itself for independent
            pairs; for a recording its innovations z⁺ − φz, since a slow factor is nearly Gaussian whatever
            drives it.
        seed: draws FastICA's start.

    Returns:
        The rotation and the evidence.

    References:
        Hyvärinen, "Fast and robust fixed-point algorithms for independent component analysis" (1999).

    """
    n, k = samples.shape
    nothing = IndependentAxes(np.eye(k), 0.0, (1.0,) * k, trusted=False)
    if k < 2 or n < 2 * _FEWEST_ROWS:
        return nothing
    # Long stretches rather than every second row: neighbours in time are not independent.
    halves = samples[: n // 2], samples[n // 2 :]
    try:
        rotation = _rotation(samples, seed)
        first, second = (_rotation(half, seed) for half in halves)
    except np.linalg.LinAlgError:
        return nothing
    p = np.sort(np.concatenate([_gaussian(halves[1] @ first), _gaussian(halves[0] @ second)]).reshape(2, k))
    agreement = min(_agreement(rotation, first), _agreement(rotation, second), _agreement(first, second))
    worst = p.max(axis=0)
    # One Gaussian factor is fixed by the others being found.
    trusted = agreement >= _AGREEMENT and bool((worst[:-1] < _FALSE_ALARM / k).all())
    return IndependentAxes(rotation, agreement, tuple(float(value) for value in worst), trusted)


def _rotation(samples: Matrix, seed: int) -> Matrix:
    """Axes that FastICA finds, as the nearest rotation: the block stays uncorrelated."""
    found: list[Matrix] = []
    with warnings.catch_warnings():
        # Columns that are Gaussian never converge; the evidence says what came of it.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for start in range(_STARTS):
            ica = FastICA(whiten="unit-variance", random_state=seed + start, max_iter=300, tol=1e-4)
            left, _, right = np.linalg.svd(ica.fit(samples).components_.T, full_matrices=False)
            found.append(left @ right)
    # A start may end in a saddle: the least Gaussian columns win.
    return max(found, key=lambda rotation: float(_surprise(samples @ rotation).sum()))


def _agreement(first: Matrix, second: Matrix) -> float:
    """Smallest cosine between the axes of two rotations, each matched with its nearest."""
    cosines = np.abs(first.T @ second)
    rows, columns = linear_sum_assignment(-cosines)
    return float(cosines[rows, columns].min())


def _gaussian(columns: Matrix) -> Matrix:
    """Chance that Gaussian columns have a mean of log cosh as far from a Gaussian's as these, (k,)."""
    p: Matrix = chi2.sf(_surprise(columns), df=1)
    return p


def _surprise(columns: Matrix) -> Matrix:
    """Squared distance of the mean of log cosh from a Gaussian's, in standard errors, (k,)."""
    standard = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    # Mean and variance are taken out of the columns, so only the part of log cosh beside 1 and x² can vary.
    contrast = _log_cosh(nodes)
    square = nodes**2 - 1
    slope = (weights * contrast * square).sum() / (weights * square**2).sum()
    mean = (weights * contrast).sum()
    variance = (weights * (contrast - mean - slope * square) ** 2).sum()
    surprise: Matrix = len(standard) * (_log_cosh(standard).mean(axis=0) - mean) ** 2 / variance
    return surprise


def _log_cosh(x: Matrix) -> Matrix:
    """Log cosh without overflow."""
    size = np.abs(x)
    value: Matrix = size + np.log1p(np.exp(-2 * size)) - np.log(2.0)
    return value
