"""Choices between runs by their held-out bits: how many columns, and whether the network is worth it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from aninfonce._seeds import derive_seed
from aninfonce.estimator.fitting import Trained, train
from aninfonce.estimator.frames import Floats, Index
from aninfonce.estimator.pairs import Pairs
from aninfonce.estimator.scoring import bits_by_block
from aninfonce.estimator.settings import fewest_columns
from aninfonce.losses.ensemble import by_kind

# Standard errors by which more columns, or a network, must be ahead. A column that tells nothing would be
# taken in 2 % of all cases, if pairs were all that differs. In runs of 200 steps, 20 of 24 recordings of
# three factors, linear or bent, got three columns, and 18 with one error; runs cut short take too many.
_ERRORS = 2.0
# Candidates in a row that are no better than the best so far before the search ends.
_IN_VAIN = 2
# Pairs that are each other's negatives: few, so that there are many blocks to tell a difference from chance
# by; fewer still where there are few pairs.
_BLOCK, _SMALLEST_BLOCK, _BLOCKS = 64, 8, 8
_MOST_PAIRS = 8192


def held_out_bits(run: Trained) -> Floats:
    """Score a run on blocks of its held-out pairs, all kinds one after another, in bits (B,).

    Runs with the same held-out pairs are scored on the same blocks.
    """
    assert run.held_out is not None
    scores: list[float] = []
    for part, pairs in by_kind(run.fitted.loss, run.held_out):
        some = pairs.some(_MOST_PAIRS, derive_seed(0, "compared"))
        block = min(_BLOCK, max(_SMALLEST_BLOCK, len(some) // _BLOCKS))
        scores += bits_by_block(part, *some.embedded(run.fitted.encoder), block=block, apart=some.apart)
    return np.array(scores)


def standard_error(differences: Floats) -> float:
    """Estimate the standard error of a mean over blocks; 0 for a single one.

    Example:
        >>> round(standard_error(np.array([1.0, 2.0, 3.0])), 3), standard_error(np.array([1.0]))
        (0.577, 0.0)

    """
    return float(differences.std(ddof=min(1, len(differences) - 1)) / np.sqrt(len(differences)))


class ChoiceCurve(NamedTuple):
    """Scores of the candidates for a parameter that was chosen by them.

    Example:
        >>> curve = ChoiceCurve(np.array([2, 3]), np.array([1.0, 1.4]), np.array([0.1, 0.1]), 3)
        >>> curve.chosen in curve.candidates
        True

    Attributes:
        candidates: (n,) what was tried.
        scores: (n,) how well each did.
        errors: (n,) standard errors of the scores.
        chosen: the candidate that was taken.

    """

    candidates: Index
    scores: Floats
    errors: Floats
    chosen: int


def choose_columns(
    kinds: Sequence[Pairs], parameters: Mapping[str, Any], seed: int
) -> tuple[Trained, ChoiceCurve]:
    """Train with more and more columns, and keep the fewest that are as good as any.

    Held-out bits rise with every factor that gets a column, and fall again when further columns learn noise.
    A number counts as good as the best if it is within two standard errors of it, by blocks of the same
    pairs. Gives the run of the chosen number, and the scores of all; arguments as in `train`.
    """
    tried: dict[int, tuple[Trained, Floats]] = {}
    best, in_vain = -np.inf, 0
    for columns in _numbers(kinds[0], fewest_columns(parameters)):
        run = train(kinds, {**parameters, "n_components": columns}, seed)
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
    # Numbers were tried in ascending order.
    numbers, all_scores = np.array(list(tried)), [scores for _, scores in tried.values()]
    means = np.array([scores.mean() for scores in all_scores])
    top = int(means.argmax())
    errors = np.array([standard_error(scores - all_scores[top]) for scores in all_scores])
    chosen = int(numbers[np.argmax(means >= means[top] - _ERRORS * errors)])
    return tried[chosen][0], ChoiceCurve(numbers, means, errors, chosen)


def _numbers(pairs: Pairs, fewest: int) -> Iterator[int]:
    """Count up to the columns of the data: one by one at first, then in larger steps."""
    most = int(np.prod(pairs.frames.rows.shape[1:])) * pairs.frames.window
    number = fewest
    while number <= max(fewest, most):
        yield number
        number += max(1, number // 4)


class NonlinearGain(NamedTuple):
    """What a network tells about held-out pairs beyond the best linear map.

    Attributes:
        bits: per pair.
        error: standard error, by blocks of the same pairs.
        linear: whether the linear map was kept, because the network was not ahead by two standard errors.

    """

    bits: float
    error: float
    linear: bool


def no_worse_than_linear(run: Trained) -> tuple[Trained, NonlinearGain | None]:
    """Keep a linear map in place of a network that is not clearly ahead of it.

    A network always bends its inputs a little, to fit the noise of its pairs. Where the data are linear in
    their factors, or too few for more, the linear map is nearer to the factors: on 4800 rows of a linear
    mixture the network reaches R² .97, the linear map 1.00.

    Returns:
        The run to keep, and the comparison; None where there is nothing to compare: without held-out pairs,
        with a network other than the estimator's own, or on a sphere, which no linear map covers.

    """
    choice, linear = run.fitted.choice, run.linear
    space = run.fitted.config.space if choice is None else choice.space
    if linear is None or space != "flat":
        return run, None
    ahead = held_out_bits(run) - held_out_bits(linear)
    error = standard_error(ahead)
    gain = NonlinearGain(float(ahead.mean()), error, bool(ahead.mean() < _ERRORS * error))
    if not gain.linear:
        return run, gain
    # The network found where the factors live: that stays known.
    return linear._replace(fitted=replace(linear.fitted, choice=choice)), gain
