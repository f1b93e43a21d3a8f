"""What the raw observations already tell about the latents, without any encoder."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from aninfonce._validation import describe
from aninfonce.metrics._arrays import Array, Partitions, as_matrix
from aninfonce.metrics._result import Result
from aninfonce.metrics.correlation import MeanCorrelation, mean_correlation_coefficient
from aninfonce.metrics.regression import R2Score, linear_r2


@dataclass(frozen=True, repr=False)
class IdentityBaseline(Result):
    """Scores of the observations themselves; an encoder has to beat them.

    Attributes:
        r2: `linear_r2` of the observations.
        mcc: `mean_correlation_coefficient` of the observations.

    """

    r2: R2Score
    mcc: MeanCorrelation


def identity_baseline(
    latents: Array,
    observations: Array,
    *,
    partitions: Partitions | None = None,
    fit: Literal["held-out", "same"] = "held-out",
) -> IdentityBaseline:
    """Score the raw observations as if they were the embedding.

    Example:
        >>> import numpy as np
        >>> z = np.random.default_rng(0).normal(size=(1000, 2))
        >>> baseline = identity_baseline(z, np.stack([z[:, 0], z[:, 1] ** 2], axis=1))
        >>> [score > 0.99 for score in baseline.r2.per_dimension]  # the second lost its sign
        [True, False]

    Args:
        latents: (N, k) true latents, array or tensor.
        observations: (N, ...) what an encoder would see; images are flattened.
        partitions: as in `linear_r2`.
        fit: as in `linear_r2`.

    Returns:
        An `IdentityBaseline` with both scores.

    """
    shape: tuple[int, ...] = tuple(getattr(observations, "shape", ()))
    if len(shape) < 2:
        raise ValueError(
            f"`observations` must be an array or tensor of shape (N, ...), got {describe(observations)}"
        )
    flat = observations.reshape(shape[0], math.prod(shape[1:]))
    as_matrix(flat, "observations", rows=("latents", len(as_matrix(latents, "latents"))))
    return IdentityBaseline(
        r2=linear_r2(latents, flat, partitions=partitions, fit=fit),
        mcc=mean_correlation_coefficient(latents, flat),
    )
