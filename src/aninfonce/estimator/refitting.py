"""How much Λ̂ depends on the run rather than on the data: further runs from other seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import t as student

from aninfonce._seeds import derive_seed
from aninfonce.estimator.describing import blocks_of_columns, describe, times_of_columns
from aninfonce.estimator.fitting import train
from aninfonce.estimator.frames import Floats, Index, embed_columns
from aninfonce.metrics import linear_r2, mean_correlation_coefficient

if TYPE_CHECKING:
    from aninfonce.estimator.contrastive_ica import ContrastiveICA
    from aninfonce.estimator.pairs import Pairs

# Most rows on which runs are compared.
_ROWS = 8192
_SMALLEST = 1e-9


def refit(
    estimator: ContrastiveICA, kinds: Sequence[Pairs], parameters: Mapping[str, Any], seed: int
) -> None:
    """Train again from other seeds, and widen the intervals of an estimator by the spread between runs.

    The interval of one run says what its pairs tell about its embedding. Another run ends in another
    embedding, whose Λ̂ differs by more than that.

    Args:
        estimator: fitted; its intervals are widened, `blocks_` follow, and `refit_agreement_` is set.
        kinds: all pairs, as they were given to it.
        parameters: of the estimator, `checked`.
        seed: of the first run.

    """
    columns = len(estimator.concentration_)
    parameters = {**parameters, "n_components": columns, "space": estimator.config_.space}
    rows = kinds[0].some(_ROWS, derive_seed(seed, "refits")).x
    own = embed_columns(estimator.encoder_, rows)
    found, times, agreement = [estimator.concentrations_], [estimator.decay_times_], []
    for number in range(parameters["refits"]):
        other_seed = derive_seed(seed, "refit", number) % 2**31
        run = train(kinds, parameters, other_seed)
        encoder, flat = run.fitted.encoder, estimator.space_ in ("flat", "box")
        values = describe(
            encoder, run.fitted.loss, run.looked_at, run.kinds[0], other_seed, flat=flat, sort=True
        ).values
        other = embed_columns(encoder, rows)
        matched = matched_columns(own, other)
        found.append(values[:, matched])
        if len(estimator.decay_times_):
            times.append(times_of_columns(encoder, kinds[0].frames, min(estimator.lags_))[matched])
        agreement.append(0.5 * (linear_r2(own, other).mean + linear_r2(other, own).mean))
    estimator.concentrations_interval_ = widened(
        estimator.concentrations_, estimator.concentrations_interval_, np.stack(found)
    )
    if len(estimator.decay_times_):
        value, ends = estimator.decay_times_[:, 0], estimator.decay_times_[:, 1:]
        estimator.decay_times_[:, 1:] = widened(value, ends, np.stack(times)[..., 0])
    estimator.blocks_ = blocks_left(estimator.concentrations_interval_, estimator.separated_)
    estimator.refit_agreement_ = np.array(agreement)


def blocks_left(interval: Floats, separated: Sequence[Index]) -> list[Index]:
    """Join columns that neither their intervals nor independence tells apart.

    Example:
        >>> wide = np.array([[[1.0, 3.0], [2.0, 4.0], [8.0, 9.0]]])
        >>> blocks_left(wide, []), blocks_left(wide, [np.array([0, 1])])
        ([array([0, 1]), array([2])], [array([0]), array([1]), array([2])])

    Args:
        interval: of Λ̂, (L, d, 2).
        separated: columns that were told apart by independence. A block that has other columns too stays
            whole: its columns were not told apart from those.

    Returns:
        Columns of each block.

    """
    left: list[Index] = []
    for block in blocks_of_columns(interval):
        told = any(np.isin(block, columns).all() for columns in separated)
        left += np.split(block, len(block)) if told else [block]
    return left


def matched_columns(own: Floats, other: Floats) -> Index:
    """Match the columns of one embedding with those of another, by the largest sum of correlations, (d,)."""
    return np.array(mean_correlation_coefficient(own, other).matching, dtype=np.intp)


def widened(values: Floats, interval: Floats, runs: Floats) -> Floats:
    """Add the spread between runs to intervals, on a logarithmic scale.

    Example:
        >>> runs = np.array([[4.0], [5.0], [3.2]])
        >>> widened(np.array([4.0]), np.array([[3.6, 4.4]]), runs).round(1).tolist()
        [[1.3, 12.2]]

    Args:
        values: (...) of the run that is kept.
        interval: (..., 2) of what its pairs say.
        runs: (R, ...) values of all runs, the kept one among them.

    Returns:
        (..., 2): where one more run would lie, with 95 % probability.

    """
    logs = np.log(np.maximum(runs, _SMALLEST))
    count = len(runs)
    between = student.ppf(0.975, count - 1) * logs.std(axis=0, ddof=1) * np.sqrt(1 + 1 / count)
    centre = np.log(np.maximum(values, _SMALLEST))
    ends = np.log(np.maximum(interval, _SMALLEST))
    low = centre - np.hypot(centre - ends[..., 0], between)
    high = centre + np.hypot(ends[..., 1] - centre, between)
    wider: Floats = np.exp(np.stack([low, high], axis=-1))
    # What could not be told from 0 still cannot.
    wider[..., 0] = np.where(interval[..., 0] <= 0, 0.0, wider[..., 0])
    return wider
