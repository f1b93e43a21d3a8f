"""How long a column of an embedding remembers, from its autocorrelation at two lags.

The errors of an encoder differ from row to row. One per cent of error makes a column that keeps .99 of itself
from one row to the next look as if it kept .98, and halves a time constant that is read off this one number.
The errors are forgotten long before a slow factor is: between a quarter and a half of its time constant, only
the factor itself still fades.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from aninfonce._validation import check_count
from aninfonce.diagnostics.intervals import few_clusters

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

# Of a time constant: the first of the two lags; the second is twice as long.
_FIRST = 0.25
# Autocorrelations are kept between these, so that a time constant is positive and finite.
_LEAST, _MOST = 1e-9, 1 - 1e-9
_ROUNDS = 4
# A lag is used if this share of the rows has another row that far away.
_PAIRS = 0.7


def decay_times(columns: npt.ArrayLike, session: Index | None = None, lag: int = 1) -> Floats:
    """Find the time after which the autocorrelation of each column has fallen to 1/e, noise left out.

    Columns that forget most within a few lags leave no room for that: theirs is read off the first lag.

    Example:
        >>> rng, slow = np.random.default_rng(0), np.zeros(20_000)
        >>> for t in range(1, len(slow)):
        ...     slow[t] = 0.98 * slow[t - 1] + rng.normal()  # a time constant of 49.5 rows
        >>> noisy = slow + 0.3 * slow.std() * rng.normal(size=len(slow))
        >>> found = decay_times(np.stack([slow, noisy], axis=1))
        >>> found[:, 0].round(), ((found[:, 1] < 49.5) & (found[:, 2] > 49.5)).tolist()
        (array([53., 53.]), [True, True])

    Args:
        columns: (T, d) in the order of time; NaN where a row is missing.
        session: (T,) ascending numbers of the recordings in it; None for one.
        lag: autocorrelations are taken at multiples of it; rows nearer than that may share noise.

    Returns:
        (d, 3) in rows: the time, and both ends of its 95 % interval, from the spread of stretches of time.

    """
    values = np.asarray(columns, dtype=np.float64)
    lag = check_count(lag, "lag")
    number = np.zeros(len(values), dtype=np.intp) if session is None else session
    usable: npt.NDArray[np.bool_] = np.isfinite(values.sum(axis=1))
    centred = np.where(usable[:, None], values - values[usable].mean(axis=0), 0.0)

    def pairs(apart: int) -> npt.NDArray[np.bool_]:
        """Whether a row has another one so much later, (T − apart,)."""
        rest = max(0, len(number) - apart)
        found: npt.NDArray[np.bool_] = number[apart:] == number[:rest]
        return found & usable[apart:] & usable[:rest]

    longest = lag
    while pairs(2 * longest).sum() > _PAIRS * usable.sum():
        longest *= 2
    return np.stack([_decay_time(column, pairs, int(usable.sum()), lag, longest) for column in centred.T])


def _decay_time(
    column: Floats, pairs: Callable[[int], npt.NDArray[np.bool_]], rows: int, lag: int, longest: int
) -> Floats:
    def products(apart: int) -> Floats:
        """Of rows so far apart, in the order of time."""
        found: Floats = (column[apart:] * column[: len(column) - apart])[pairs(apart)]
        return found

    variance = max(float((column**2).sum()) / rows, 1e-300)
    apart = lag
    while 2 * apart <= longest and products(2 * apart).mean() > variance * np.exp(-0.5):
        apart *= 2
    time = -apart / np.log(np.clip(products(apart).mean() / variance, _LEAST, _MOST))
    for _ in range(_ROUNDS):
        first = min(int(_FIRST * time // lag), longest // (2 * lag)) * lag
        second = 2 * first or lag
        # The mean is that of the rows at hand, so that products are too small by the variance of a mean.
        bias = variance * 2 * min(time, rows / 8) / rows
        early, late = products(first), products(second)
        start, end = max(early.mean() + bias, 1e-300), late.mean() + bias
        kept = float(np.clip(end / start, _LEAST, _MOST))
        time = -(second - first) / np.log(kept)
    # What each stretch of time adds to the ratio of the two.
    stretches = min(len(late), max(2, round(len(late) ** (1 / 3))))
    late, early = (
        np.array([part.sum() for part in np.array_split(part - part.mean(), stretches)]) / len(part)
        for part in (late, early)
    )
    spread = float(np.sqrt(((late - kept * early) ** 2).sum())) / start
    half = 1.96 * min(few_clusters(stretches) * spread / kept / -np.log(kept), 100.0)
    return np.array([time, time * np.exp(-half), time * np.exp(half)])
