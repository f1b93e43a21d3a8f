"""Rows that are sums over overlapping stretches of time, so that neighbours share their noise."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aninfonce.estimator.frames import Frames

Floats = npt.NDArray[np.float64]

# Steps and columns that are looked at, at most.
_STEPS, _COLUMNS = 20_000, 64
# Correlation of steps below which sums are seen, in rows without end and as a multiple of its standard error.
# That of all other lags must be this much smaller: an oscillator has many.
_LEAST, _ERRORS, _OTHERS = 0.1, 5.0, 0.5


def summed_rows(frames: Frames, longest: int) -> int:
    """Find out over how many rows a recording was summed, or averaged, with steps of one row.

    A step from one such sum to the next is what came in less what fell out k rows ago. So steps that are k
    apart have one term in common, with opposite signs, and steps at other distances none: noise shows itself
    by a correlation of −½ at the lag k alone.

    Example:
        >>> counts = np.random.default_rng(0).poisson(3.0, size=(2000, 4))
        >>> sums = sum(counts[i : 1990 + i] for i in range(9)).astype(float)
        >>> session = np.zeros(1990, dtype=np.intp)
        >>> summed_rows(Frames(sums, session), 50), summed_rows(Frames(counts[:1990] * 1.0, session), 50)
        (9, 1)

    Args:
        frames: the recording.
        longest: rows of a sum, at most; a few more than that are looked at.

    Returns:
        k; 1 if the rows are no sums.

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
