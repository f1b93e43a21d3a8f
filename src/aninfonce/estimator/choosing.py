"""Lags and the number of columns chosen from the data, without labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from aninfonce.estimator.choice_curve import ChoiceCurve
from aninfonce.estimator.comparing import held_out_bits, standard_error
from aninfonce.estimator.fitting import Trained, train
from aninfonce.estimator.frames import Frames
from aninfonce.estimator.overlapping import summed_rows
from aninfonce.estimator.pairs import Pairs, lagged
from aninfonce.estimator.settings import fewest_columns

Floats = npt.NDArray[np.float64]

# Standard errors by which more columns must be ahead: one that tells nothing would be taken in 2 % of all
# cases, if pairs were all that differs. In runs of 200 steps, 20 of 24 recordings of three factors, linear or
# bent, got three columns, and 18 with one error; runs that are cut short take too many.
_ERRORS = 2.0
# Candidates in a row that are no better than the best so far before the search ends.
_IN_VAIN = 2
# Lags grow by this factor, to this share of the shortest session at most.
_FACTOR, _LONGEST = 2, 0.05
# Average correlation over a lag, from which on enough is remembered, and below which longer lags have less.
_REMEMBERED, _FORGOTTEN = 0.65, 0.3
_COMPONENTS = 10
_ROWS = 20_000


def choose_columns(
    kinds: Sequence[Pairs], parameters: Mapping[str, Any], seed: int, *, device: str, verbose: int
) -> tuple[Trained, ChoiceCurve]:
    """Train with more and more columns, and keep the fewest that tell as much as any.

    Bits of held-out pairs rise with every factor that a column is added for, and fall again when columns are
    left to learn noise. A number counts as good as the best if it is within two standard errors of it, by
    blocks of the same pairs.

    Args:
        kinds: one or more kinds of pairs.
        parameters: of the estimator, `checked`.
        seed: of all runs.
        device: by torch's name.
        verbose: above 0 for progress bars.

    Returns:
        The run of the chosen number, and what all were scored with.

    """
    tried: dict[int, tuple[Trained, Floats]] = {}
    best, in_vain = -np.inf, 0
    for columns in _numbers(kinds[0], fewest_columns(parameters)):
        run = train(kinds, {**parameters, "n_components": columns}, seed, device=device, verbose=verbose)
        if run.held_out is None:
            raise ValueError(
                "`n_components` must be a number where pairs are too few to hold some out, got 'auto' and"
                f" {min(map(len, kinds))} pairs with"
                f" validation_fraction={parameters['validation_fraction']:g}"
            )
        scores = held_out_bits(run)
        tried[columns] = run, scores
        in_vain = 0 if scores.mean() > best else in_vain + 1
        best = max(best, float(scores.mean()))
        if in_vain >= _IN_VAIN:
            break
    means = {columns: float(scores.mean()) for columns, (_, scores) in tried.items()}
    top = max(means, key=lambda columns: means[columns])
    errors = {columns: standard_error(scores - tried[top][1]) for columns, (_, scores) in tried.items()}
    chosen = next(
        columns for columns in sorted(tried) if means[columns] >= means[top] - _ERRORS * errors[columns]
    )
    order = sorted(tried)
    curve = ChoiceCurve(
        np.array(order), np.array([means[k] for k in order]), np.array([errors[k] for k in order]), chosen
    )
    return tried[chosen][0], curve


def _numbers(pairs: Pairs, fewest: int) -> Iterator[int]:
    """Count up to the columns of the data: one by one at first, then in larger steps."""
    most = int(np.prod(pairs.frames.rows.shape[1:])) * pairs.frames.window
    number = fewest
    while number <= max(fewest, most):
        yield number
        number += max(1, number // 4)


def choose_lag(frames: Frames, columns: int | None = None) -> tuple[int, ChoiceCurve]:
    """Take the longest lag, of a ladder, over which most of the recording is still remembered.

    Over a short lag a few factors, or what a pair shares of noise, are enough to find the positive, and the
    others are not learned. Over a long one nothing is left to be learned. What is remembered is read off the
    principal components: their correlation with themselves a lag later, along the axes that second moments
    give them (found on the earlier half of the rows, read on the later one), averaged. The lag is the longest
    with an average of .65 or more; the shortest if there is none. Where each row is a sum over k rows of
    something else, such as counts, none is shorter than k.

    Args:
        frames: the recording.
        columns: principal components to look at; 10 if not known.

    Returns:
        The lag, and the average at all that were looked at.

    """
    shortest = int(np.bincount(frames.session).min())
    most = round(_LONGEST * shortest)
    # The two sides of a pair must not have been made of the same rows.
    first = lag = frames.window + summed_rows(frames, shortest // 8) - 1
    lags, found = [], []
    rung = frames.window
    while lag <= max(first, most):
        if _has_pairs(frames, lag):
            lags.append(lag)
            found.append(remembered(lagged(frames, lag), columns or _COMPONENTS))
            if found[-1] < _FORGOTTEN:
                break
        while rung <= lag:
            rung *= _FACTOR
        lag = rung
    if not lags:
        # Says what is missing.
        lagged(frames, first)
    long_enough = [lag for lag, value in zip(lags, found, strict=True) if value >= _REMEMBERED]
    chosen = max(long_enough, default=lags[0])
    return chosen, ChoiceCurve(np.array(lags), np.array(found), np.zeros(len(lags)), chosen)


def _has_pairs(frames: Frames, lag: int) -> bool:
    """Whether gaps leave pairs of a lag."""
    usable, session = frames.usable, frames.session
    return (
        frames.gap is None
        or int((usable[:-lag] & usable[lag:] & (session[:-lag] == session[lag:])).sum()) > 1
    )


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
        pairs: of a recording.
        columns: principal components, at most.

    Returns:
        The average, of inputs that are brought to one scale.

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
        # No moments of all columns with all: these take long where columns are many.
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
