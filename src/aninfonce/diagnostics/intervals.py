"""95 % intervals that need nothing but the statistic itself."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import stats

Matrix = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Interval = tuple[float, float]


def jackknife(statistic: Callable[[Rows], float], n: int, groups: int = 20) -> tuple[float, Interval]:
    """Value of a smooth statistic of n rows, and its interval from leaving out one group of rows at a time.

    Unlike a bootstrap it repeats no row, which would spoil statistics that hold rows out or count neighbours.

    Example:
        >>> x = np.random.default_rng(0).normal(size=1000)
        >>> value, (low, high) = jackknife(lambda rows: x[rows].mean(), 1000)
        >>> low < 0 < high, abs((high - low) / (2 * 1.96 / 1000**0.5) - 1) < 0.4
        (True, True)

    Args:
        statistic: of the indices of the rows to use.
        n: rows.
        groups: of rows.

    Returns:
        The value on all rows, and lower and upper end.

    """
    (value,), ((low, high),) = jackknife_each(lambda rows: [statistic(rows)], n, groups)
    return float(value), (float(low), float(high))


def jackknife_each(
    statistic: Callable[[Rows], npt.ArrayLike], n: int, groups: int = 20
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Values of several statistics of the same n rows, each with the interval that `jackknife` gives it.

    Example:
        >>> x = np.random.default_rng(0).normal(size=(1000, 2))
        >>> values, intervals = jackknife_each(lambda rows: x[rows].mean(axis=0), 1000)
        >>> values.shape, intervals.shape
        ((2,), (2, 2))

    Args:
        statistic: k numbers of the indices of the rows to use.
        n: rows.
        groups: of rows.

    Returns:
        The values (k,) on all rows, and their lower and upper ends (k, 2).

    """
    rows = np.arange(n)
    value = np.asarray(statistic(rows), dtype=np.float64)
    left = np.array([statistic(rows[rows % groups != group]) for group in range(groups)])
    error = np.sqrt((groups - 1) / groups * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
    half = float(stats.t.ppf(0.975, groups - 1)) * error
    return value, np.stack([value - half, value + half], axis=-1)


def proportion(hits: int, trials: int) -> tuple[float, Interval]:
    """Give a share and its Wilson interval.

    Example:
        >>> value, (low, high) = proportion(50, 100)
        >>> value, round(low, 2), round(high, 2)
        (0.5, 0.4, 0.6)

    Args:
        hits: of the trials.
        trials: in all.

    Returns:
        The share, and lower and upper end.

    """
    found = stats.binomtest(hits, trials).proportion_ci(method="wilson")
    return hits / trials, (float(found.low), float(found.high))


def share_lost(
    before: npt.NDArray[np.bool_], after: npt.NDArray[np.bool_], chance: float = 0.5
) -> tuple[float, Interval]:
    """Share of an accuracy above chance that is lost from one to another, on the same trials.

    (before − after) / (before − chance): 0 if nothing is lost, 1 if nothing is left, below 0 if something is
    won. The interval is Fieller's, which allows for the error of the denominator too. Half a trial is added
    to each of the four outcomes of a pair of answers, or a perfect score would be taken for certain.

    Example:
        >>> before, after = np.arange(1000) % 10 > 0, np.arange(1000) % 10 > 2
        >>> value, (low, high) = share_lost(before, after)
        >>> round(value, 2), low < 0.5 < high, high - low < 0.2
        (0.5, True, True)

    Args:
        before: (n,) right answers.
        after: (n,) right answers to the same questions.
        chance: accuracy of guessing.

    Returns:
        The share, and lower and upper end; NaN between infinite ends if `before` is not surely better than
        chance.

    References:
        Fieller, "Some problems in interval estimation" (1954); Agresti and Min, "Simple improved confidence
        intervals for comparing matched proportions" (2005).

    """
    n = len(before) + 2.0
    first, second = (before.sum() + 1.0) / n, (after.sum() + 1.0) / n
    both = ((before & after).sum() + 0.5) / n
    square = float(stats.norm.ppf(0.975)) ** 2 / n
    whole, left = first - chance, second - chance
    # Roots of (left − kept · whole)² = square · variance of that difference, as a·kept² − 2b·kept + c = 0.
    a = whole**2 - square * first * (1 - first)
    b = whole * left - square * (both - first * second)
    c = left**2 - square * second * (1 - second)
    if a <= 0 or whole <= 0:
        return math.nan, (-math.inf, math.inf)
    root = math.sqrt(max(b**2 - a * c, 0.0))
    value = 1.0 - (float(after.mean()) - chance) / (float(before.mean()) - chance)
    low, high = 1.0 - (b + root) / a, 1.0 - (b - root) / a
    return value, (float(min(low, value)), float(max(high, value)))


def few_clusters(count: int) -> float:
    """Factor by which intervals from few clusters are widened, by Student's t: 1.05 for 40, 1.22 for 10."""
    if count < 2:
        raise ValueError("`clusters` must be at least 2, got one that holds all pairs")
    return float(stats.t.ppf(0.975, count - 1) / stats.norm.ppf(0.975) * (count / (count - 1)) ** 0.5)
