"""How far the learned concentrations Λ̂ are from the true Λ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aninfonce._validation import describe
from aninfonce.metrics._arrays import Array, Matrix, as_vector, indices_of
from aninfonce.metrics._result import Result


@dataclass(frozen=True, repr=False)
class ConcentrationError(Result):
    """Relative errors of Λ̂, (Λ̂ − Λ)/Λ.

    Attributes:
        mean: of the magnitudes of `sorted`.
        max: largest magnitude in `sorted`.
        sorted: signed errors of the sorted Λ̂ against the sorted Λ, smallest Λ first.
        matched_mean: as `mean`, under the given matching; None without one.
        matched_max: as `max`, under the given matching; None without one.
        matched: signed error of each latent's Λ under the given matching; empty without one.
        zero_concentration: latents of true Λ = 0, whose error is taken relative to the smallest positive Λ.

    """

    mean: float
    max: float
    sorted: tuple[float, ...]
    matched_mean: float | None = None
    matched_max: float | None = None
    matched: tuple[float, ...] = ()
    zero_concentration: tuple[int, ...] = ()

    def __float__(self) -> float:
        return self.mean


def concentration_error(
    concentration_hat: Array, concentration: Array, *, matching: Sequence[int] | None = None
) -> ConcentrationError:
    """Relative error of the learned concentrations.

    Example:
        >>> import numpy as np
        >>> truth = np.array([5.0, 5.0, 25.0])
        >>> error = concentration_error(np.array([24.0, 5.1, 5.0]), truth, matching=[2, 1, 0])
        >>> error
        ConcentrationError(mean=0.02, max=0.04, sorted=(0, 0.02, -0.04), matched_mean=0.02, matched_max=0.04,
            matched=(0, 0.02, -0.04))

    Args:
        concentration_hat: (d,) learned diagonal of Λ̂, array or tensor.
        concentration: (d,) true diagonal of Λ, not all zero.
        matching: embedding dimension of each latent, as `mean_correlation_coefficient` or
            `block_orthogonality` give it; the sorted errors do not need it.

    Returns:
        A `ConcentrationError`. Sorting never does worse than a matching in total |Λ̂ − Λ|, so two latents that
        traded their Λ̂ show only in the matched errors.

    """
    truth = as_vector(concentration, "concentration", minimum=0.0)
    learned = as_vector(
        concentration_hat, "concentration_hat", length=("concentration", len(truth)), minimum=0.0
    )
    if not (truth > 0).any():
        raise ValueError(
            "`concentration` must have a positive entry for errors relative to it, got only zeros"
        )
    scale = np.where(truth > 0, truth, truth[truth > 0].min())

    order = np.argsort(truth, kind="stable")
    by_size = (np.sort(learned) - truth[order]) / scale[order]
    matched: Matrix = np.empty(0)
    if matching is not None:
        if len(matching) != len(truth) or set(matching) != set(range(len(truth))):
            raise ValueError(
                f"`matching` must hold each index from 0 to {len(truth) - 1} once, got {describe(matching)}"
            )
        matched = (learned[np.asarray(matching)] - truth) / scale
    return ConcentrationError(
        mean=float(np.abs(by_size).mean()),
        max=float(np.abs(by_size).max()),
        sorted=tuple(by_size.tolist()),
        matched_mean=float(np.abs(matched).mean()) if matching is not None else None,
        matched_max=float(np.abs(matched).max()) if matching is not None else None,
        matched=tuple(matched.tolist()),
        zero_concentration=indices_of(truth == 0),
    )
