"""How far the Λ of several directions lie apart, with an interval that allows for their number."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aninfonce.diagnostics.intervals import Interval, Matrix

_DRAWS = 4000
_LEVEL = 0.95
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Spread:
    """The largest of several Λ over the smallest.

    Attributes:
        value: of the estimates; None if the smallest cannot be told from 0.
        interval: of the ratio, at least 1; the upper end is infinite if the smallest may be 0.
        lower: (d, d) what Λᵢ/Λⱼ surely exceeds, all at once.
        zero: (d,) which Λ cannot be told from 0.

    """

    value: float | None
    interval: Interval
    lower: Matrix
    zero: npt.NDArray[np.bool_]


def spread_of(values: Matrix, covariance: Matrix, rng: np.random.Generator) -> Spread:
    """Find the largest Λ over the smallest, with a 95 % interval.

    A Λ is a scale, so ratios are compared by their logarithms, whose errors are near normal. The extremes of
    several estimates lie apart even if all Λ are equal: hence the intervals of all ratios are made to hold at
    once, and the largest ratio is between the largest of their lower and the largest of their upper ends.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> found = spread_of(np.array([5.0, 20.0]), np.diag([0.25, 4.0]), rng)
        >>> found.value, 2.5 < found.interval[0] < 4 < found.interval[1] < 6.5
        (4.0, True)
        >>> spread_of(np.array([0.1, 20.0]), np.diag([0.25, 4.0]), rng).value is None
        True

    Args:
        values: Λ̂ (d,), d at least 2.
        covariance: (d, d) of their errors.
        rng: draws errors to find how wide the intervals must be.

    Returns:
        The ratio, and what is known of all others.

    References:
        Tukey, "The problem of multiple comparisons" (1953), for differences of normal means.

    """
    d = len(values)
    error = np.sqrt(np.diag(covariance)).clip(min=_TINY)
    # Drawn as correlations, since the Λ may differ by many orders.
    correlation = covariance / error / error[:, None]
    draws = error * rng.multivariate_normal(np.zeros(d), correlation, _DRAWS, "ignore", method="eigh")
    margin = _standard_errors(draws, error) * error
    zero = values <= margin
    if zero.any():
        # No logarithm where Λ may be 0: each Λ by itself still bounds the ratios from below.
        lower = (values - margin).clip(min=0.0)[:, None] / (values + margin).clip(min=_TINY)
        np.fill_diagonal(lower, 1.0)
        return Spread(None, (float(lower.max()), math.inf), lower, zero)
    # Errors of logarithms are relative errors.
    relative = draws / values
    errors = relative[:, :, None] - relative[:, None]
    apart = errors.std(axis=0)
    wide = _standard_errors(errors.reshape(_DRAWS, -1), apart.ravel()) * apart
    ratio = values[:, None] / values
    lower, upper = ratio * np.exp(-wide), ratio * np.exp(wide)
    return Spread(float(ratio.max()), (float(lower.max()), float(upper.max())), lower, zero)


def _standard_errors(draws: Matrix, error: Matrix) -> float:
    """How many standard errors wide intervals must be for all of them to hold at once."""
    ratios = np.abs(draws) / np.maximum(error, _TINY)
    return float(np.quantile(ratios.max(axis=1), _LEVEL))
