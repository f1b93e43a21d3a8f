"""95 % intervals that need nothing but the statistic itself."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import stats

Rows = npt.NDArray[np.intp]
Interval = tuple[float, float]


def jackknife(statistic: Callable[[Rows], float], n: int, groups: int = 20) -> tuple[float, Interval]:
    """Value of a smooth statistic of n rows, and its interval from leaving out one group of rows at a time.

    No row is ever used twice, which would spoil statistics that hold rows out or count neighbours.

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
    rows = np.arange(n)
    value = float(statistic(rows))
    left = np.array([statistic(rows[rows % groups != group]) for group in range(groups)])
    error = math.sqrt((groups - 1) / groups * float(((left - left.mean()) ** 2).sum()))
    half = float(stats.t.ppf(0.975, groups - 1)) * error
    return value, (value - half, value + half)


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
