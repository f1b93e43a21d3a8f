"""What a user should know about the data or the outcome of a fit: warnings, each with its remedy."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aninfonce._seeds import derive_seed
from aninfonce.estimator.frames import Array
from aninfonce.estimator.pairs import Pairs
from aninfonce.training.early_stopping import EarlyStopping

if TYPE_CHECKING:
    from aninfonce.estimator.contrastive_ica import ContrastiveICA

_PACKAGE = str(Path(__file__).parents[1])
# Rows from which the rank of the data is judged: enough to span the columns of an embedding.
_ROWS_FOR_RANK = 512
# Directions with less than this share of the largest spread, after scaling, do not count as filled.
_EMPTY = 1e-6
# A positive is a slightly changed anchor. If the means of a column differ by more than this share of its
# spread, or the spreads by more than this factor, one side probably has another unit or missed a step.
_LARGEST_SHIFT, _LARGEST_FACTOR = 0.5, 2.0
# Fewer pairs than this, or fewer per entry of the d × d metric that gives the axes, say little.
_FEWEST_PAIRS, _FEWEST_PER_ENTRY = 100, 10
# An interval of Λ̂ that begins at 0 and ends below this share of the largest Λ̂ counts as zero.
_EMPTY_COLUMN = 0.1
# Residual of a geodesic start above which rows do not lie on a sheet of that many columns. For rats' paths it
# is .03 where the sheet was found, and .15 or more where paths cut corners.
_ROUGH_START = 0.1
# Bits that the held-out score may lose from its best to the last step without a warning.
_LOST_BITS = 0.1


class ContrastiveICAWarning(UserWarning):
    """Something that the user should know about the data or the outcome of a fit.

    Example:
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", ContrastiveICAWarning)  # other warnings are still shown

    """


def warn_about_size(pairs: Pairs, n_components: int, space: str) -> None:
    """Warn before training if there are too few pairs or inputs for the columns asked for."""
    _warn_about_number(len(pairs), n_components)
    _warn_about_rank(pairs.x, n_components, space)


def warn_about_positives(pairs: Pairs) -> None:
    """Warn before training if positives are copies, or went through other steps than the anchors."""
    _warn_about_copies(pairs)
    if pairs.given:
        _warn_about_scales(pairs.x, pairs.x_pos)


def warn_about_outcome(estimator: ContrastiveICA) -> None:
    """Warn after training about what is doubtful in its start and outcome."""
    residual = estimator.start_residual_
    if residual is not None and residual > _ROUGH_START:
        _warn(
            f"distances in {estimator.config_.dim} columns leave {residual:.0%} of the path lengths"
            " unexplained (`start_residual_`): the geodesic start may itself be folded. More `n_components`,"
            " another `lag` or a longer `window` may help; if not, use start='random'"
        )
    if estimator.folded_:
        _warn(
            "the embedding covers its sphere unevenly, as if the sign of a factor were lost (`folded_`). More"
            " steps, more pairs, another `random_state`, one more in `n_components`, or space='auto' may help"
        )
    values, (low, high) = estimator.concentration_, estimator.concentration_interval_.T
    if (low <= 0.0).all():
        _warn(
            "Λ̂ cannot be told from 0 in any column: as far as these data show, pairs share nothing. Check"
            " that they belong together; if they do, give more of them, or a shorter `lag`"
        )
        return
    empty = np.flatnonzero((low <= 0.0) & ((values <= 0.0) | (high < _EMPTY_COLUMN * values.max())))
    if len(empty):
        fewest = 1 if estimator.space_ in ("flat", "box", "unbounded") else 2
        _warn(
            f"Λ̂ is 0 in column(s) {', '.join(map(str, empty))}: pairs share nothing there. Try"
            f" n_components={max(fewest, len(values) - len(empty))}, or check that the pairs belong together"
        )


def warn_about_thrown_away(stopping: EarlyStopping, steps: int, asked: int) -> None:
    """Warn that steps which were asked for did harm, or were not taken."""
    if steps == asked and stopping.best_score - stopping.scores[-1] < _LOST_BITS:
        return
    left = f", and {asked - steps} of the {asked} asked for were not taken" if steps < asked else ""
    _warn(
        f"the held-out score was best at step {stopping.best_step} of {steps} (`held_out_curve_`): its"
        f" weights are kept, later steps were thrown away{left}. More pairs would help; max_steps=None takes"
        " as many steps as help"
    )


def _warn_about_number(pairs: int, n_components: int) -> None:
    fewest = max(_FEWEST_PAIRS, _FEWEST_PER_ENTRY * n_components * (n_components + 1) // 2)
    if pairs < fewest:
        _warn(
            f"{pairs} pairs are few for n_components={n_components}: a network memorises them, and neither"
            f" embedding nor Λ̂ can be trusted. Give at least {fewest} pairs, or ask for fewer columns"
        )


def _warn_about_rank(x: Array, n_components: int, space: str) -> None:
    on_sphere = space in ("sphere", "learnable-sphere")
    needed = n_components - 1 if on_sphere else n_components
    rank = _rank(x, max(_ROWS_FOR_RANK, 2 * n_components))
    # Fewer rows cannot span the directions.
    if rank < needed and len(x) > needed:
        why = " (on a sphere, d columns hold d − 1 free factors)" if on_sphere else ""
        _warn(
            f"n_components={n_components} is more than the data can hold: X varies along {rank} independent"
            f" direction(s) only{why}. Try n_components={max(2 if on_sphere else 1, rank + on_sphere)}"
        )


def _rank(x: Array, most: int) -> int:
    """Count the independent directions in some of the rows, each column brought to one scale."""
    rows = np.random.default_rng(derive_seed(0, "rank")).permutation(len(x))[:most]
    some = np.asarray(x[np.sort(rows)], dtype=np.float64)
    some = some - some.mean(axis=0)
    spread = some.std(axis=0)
    some = some[:, spread > 0] / spread[spread > 0]
    if not some.size:
        return 0
    lengths = np.linalg.svd(some, compute_uv=False)
    return int((lengths > _EMPTY * lengths[0]).sum())


def _warn_about_copies(pairs: Pairs) -> None:
    copies = float(np.mean((pairs.x == pairs.x_pos).reshape(len(pairs), -1).all(axis=1)))
    if copies > 0.5:
        later = f"X, {pairs.lag} rows later," if pairs.lag is not None else "augment(X)"
        _warn(
            f"{'X_pos' if pairs.given else later} equals X in {copies:.0%} of the rows: such pairs tell"
            " nothing, and Λ̂ has no bound. Positives must share their causes with the anchors and differ in"
            " the rest"
        )


def _warn_about_scales(x: Array, x_pos: Array) -> None:
    # Pictures are compared by channel: a pixel may be constant until the picture is moved.
    which, axes = ("columns", 0) if x.ndim == 2 else ("channels", (0, 2, 3))
    (mean, spread), (mean_pos, spread_pos) = (
        (part.mean(axis=axes, dtype=np.float64), part.std(axis=axes, dtype=np.float64)) for part in (x, x_pos)
    )
    larger, smaller = np.maximum(spread, spread_pos), np.minimum(spread, spread_pos)
    odd = (np.abs(mean - mean_pos) > _LARGEST_SHIFT * larger) | (larger > _LARGEST_FACTOR * smaller)
    if odd.any():
        column = int(np.argmax(odd))
        before, after = (
            f"{m[column]:.3g} ± {s[column]:.3g}" for m, s in ((mean, spread), (mean_pos, spread_pos))
        )
        _warn(
            f"X and X_pos differ in mean or scale in {int(odd.sum())} of {len(odd)} {which} ({which[:-1]}"
            f" {column}: {before} and {after}). Both must have gone through the same steps: a pipeline"
            " transforms X only, so transform X_pos yourself, or use `lag` or `augment`"
        )


def _warn(message: str) -> None:
    """Warn at the line of user code that called the package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, ContrastiveICAWarning, stacklevel=level)
