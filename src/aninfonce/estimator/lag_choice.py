"""The lag of a recording, chosen without labels: the longest over which most of it is still remembered."""

from __future__ import annotations

import numpy as np

from aninfonce.estimator.choosing import ChoiceCurve
from aninfonce.estimator.frames import Floats, Frames
from aninfonce.estimator.pairs import Pairs, anchors_at, lagged

# Lags grow by this factor, to this share of the shortest session at most.
_FACTOR, _LONGEST = 2, 0.05
# Average correlation over a lag: enough is remembered above the first, and longer lags are left out below
# the second.
_REMEMBERED, _FORGOTTEN = 0.65, 0.3
_COMPONENTS = 10
_ROWS = 20_000
# Steps and columns that are searched for sums, at most.
_STEPS, _COLUMNS = 20_000, 64
# For rows to count as sums, the correlation of their steps must be this far below zero, as a number and in
# standard errors; at all other lags it must be smaller by this factor, as an oscillator's is not.
_LEAST, _ERRORS, _OTHERS = 0.1, 5.0, 0.5


def choose_lag(frames: Frames, columns: int | None = None) -> tuple[int, ChoiceCurve]:
    """Take the longest of a ladder of lags over which most of the recording is still remembered.

    Over a short lag a few factors, or noise that a pair shares, are enough to find the positive, and the
    other factors are not learned. Over a long one nothing is left to be learned. What is remembered is the
    average correlation of principal components with themselves a lag later, along the axes that second
    moments give them (found on the earlier half of the rows, read on the later half). The lag is the longest
    with an average of .65 or more, or the shortest if there is none. Where each row is a sum over k rows of
    something else, such as counts, no lag is shorter than k.

    Args:
        frames: the recording.
        columns: principal components to look at; 10 if None.

    Returns:
        The lag, and the average at each lag of the ladder.

    """
    shortest = int(np.bincount(frames.session).min())
    most = round(_LONGEST * shortest)
    # The two sides of a pair must not have been made of the same rows.
    first = lag = frames.window + summed_rows(frames, shortest // 8) - 1
    lags, found = [], []
    rung = frames.window
    while lag <= max(first, most):
        if len(anchors_at(frames, lag)) > 1:
            lags.append(lag)
            found.append(remembered(lagged(frames, lag), columns or _COMPONENTS))
            if found[-1] < _FORGOTTEN:
                break
        while rung <= lag:
            rung *= _FACTOR
        lag = rung
    if not lags:
        # Raises the error that says what is missing.
        lagged(frames, first)
    long_enough = [lag for lag, value in zip(lags, found, strict=True) if value >= _REMEMBERED]
    chosen = max(long_enough, default=lags[0])
    return chosen, ChoiceCurve(np.array(lags), np.array(found), np.zeros(len(lags)), chosen)


def remembered(pairs: Pairs, columns: int) -> float:
    """Average correlation of the principal components of anchors with those of positives, on later rows.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> steps = rng.normal(size=20_000)
        >>> x = np.zeros(20_000)
        >>> for t in range(1, len(x)):
        ...     x[t] = 0.9 * x[t - 1] + steps[t]
        >>> frames = Frames(x[:, None], np.zeros(len(x), dtype=np.intp))
        >>> round(remembered(lagged(frames, 1), 1), 1), round(remembered(lagged(frames, 5), 1), 1)
        (0.9, 0.6)

    Args:
        pairs: of a recording; inputs are brought to one scale first.
        columns: principal components, at most.

    """
    some = pairs.some(_ROWS, 0)
    x, x_pos = (side.reshape(len(some), -1).astype(np.float64) for side in (some.x, some.x_pos))
    half = len(some) // 2
    scale = x[:half].std(axis=0)
    varies = scale > 0
    if half < 2 or not varies.any():
        return 0.0
    a, b = ((side[:, varies] - x[:half, varies].mean(axis=0)) / scale[varies] for side in (x, x_pos))
    if half < a.shape[1]:
        # The moments of all columns with all would take long where columns are many.
        lengths, axes = np.linalg.svd(a[:half], full_matrices=False)[1:]
        spread, axes = lengths[::-1] ** 2 / half, axes[::-1].T
    else:
        spread, axes = np.linalg.eigh(a[:half].T @ a[:half] / half)
    kept = slice(-min(columns, int((spread > spread[-1] * 1e-9).sum())), None)
    white = axes[:, kept] / np.sqrt(spread[kept])
    a, b = a @ white, b @ white
    turn = np.linalg.eigh(a[:half].T @ b[:half] + b[:half].T @ a[:half])[1]
    now, later = (a[half:] @ turn).T, (b[half:] @ turn).T
    values = [np.corrcoef(one, other)[0, 1] for one, other in zip(now, later, strict=True)]
    return float(np.nan_to_num(np.mean(values)))


def summed_rows(frames: Frames, longest: int) -> int:
    """Find out over how many rows a recording was summed, or averaged, with steps of one row.

    A step from one such sum to the next is the row that enters less the row that leaves, k rows earlier. So
    steps that are k apart share one term, with opposite signs, and steps at other distances none: noise has a
    correlation of −½ at lag k alone.

    Example:
        >>> counts = np.random.default_rng(0).poisson(3.0, size=(2000, 4))
        >>> sums = sum(counts[i : 1990 + i] for i in range(9)).astype(float)
        >>> session = np.zeros(1990, dtype=np.intp)
        >>> summed_rows(Frames(sums, session), 50), summed_rows(Frames(counts[:1990] * 1.0, session), 50)
        (9, 1)

    Args:
        frames: the recording.
        longest: largest number of rows in a sum.

    Returns:
        k; 1 if the rows are not sums.

    """
    correlation = _of_steps(frames, 2 * longest)
    if len(correlation) < 3:
        return 1
    place = int(np.argmin(correlation))
    others = np.abs(np.delete(correlation, place)).max()
    bound = max(_LEAST, _ERRORS / np.sqrt(min(len(frames), _STEPS)))
    found = correlation[place] < -bound and others < -_OTHERS * correlation[place]
    return place + 1 if found and place < longest else 1


def _of_steps(frames: Frames, longest: int) -> Floats:
    """Average over columns of the correlation of steps with those 1, 2, … rows later, (L,)."""
    rows = frames.rows[: _STEPS + 1].reshape(min(len(frames), _STEPS + 1), -1)
    rows = rows[:, :: -(-rows.shape[1] // _COLUMNS)].astype(np.float64)
    session = frames.session[: len(rows)]
    steps = np.diff(rows, axis=0)
    # Nothing is known of steps from one session to another, or over a gap.
    steps[session[1:] != session[:-1]] = 0.0
    steps = np.nan_to_num(steps)
    scale = np.sqrt((steps**2).mean(axis=0))
    steps = steps[:, scale > 0] / scale[scale > 0]
    if not steps.size:
        return np.empty(0)
    lags = range(1, min(longest, len(steps) // 4) + 1)
    return np.array([(steps[:-lag] * steps[lag:]).mean() for lag in lags])
