"""How much of each latent a linear readout of the embedding recovers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from aninfonce._validation import check_choice
from aninfonce.metrics._arrays import (
    Array,
    Matrix,
    Partitions,
    as_matrix,
    as_partitions,
    constant_columns,
    constant_flags,
    indices_of,
    resolution,
    scale_columns,
    standardization,
)
from aninfonce.metrics._result import Result


@dataclass(frozen=True, repr=False)
class R2Score(Result):
    """Share of each latent's variance that a readout of the embedding explains.

    A constant latent has no variance to explain: it scores 0 in `per_dimension`, is listed in
    `constant_latents` and left out of every mean (a mean over no latent at all is 0).

    Attributes:
        mean: over all latents that vary.
        per_dimension: one score per latent; 1 is perfect, 0 no better than the latent's mean, and held-out
            scores can be below 0.
        per_partition: mean over the latents of each partition.
        protocol: in words, what was fitted and on which rows it was scored.
        constant_latents: indices of latents that do not vary.
        rank_deficient: whether some embedding dimension is constant or a linear function of others (or
            there are too few rows to tell).
        flags: everything unusual about the input, in words; empty if all is well.
        settings: what the readout chose per latent, such as a kernel width.

    """

    mean: float
    per_dimension: tuple[float, ...]
    per_partition: dict[str, float]
    protocol: str
    constant_latents: tuple[int, ...] = ()
    rank_deficient: bool = field(default=False, repr=False)
    flags: tuple[str, ...] = ()
    settings: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def __float__(self) -> float:
        return self.mean


def linear_r2(
    latents: Array,
    embeddings: Array,
    *,
    partitions: Partitions | None = None,
    fit: Literal["held-out", "same"] = "held-out",
) -> R2Score:
    """R² of least squares with intercept from embeddings to latents.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> z = rng.normal(size=(1000, 4))
        >>> embedding = z[:, :2] @ np.array([[2.0, 1.0], [0.5, -1.0]]) + 3.0  # keeps two latents of four
        >>> score = linear_r2(z, embedding, partitions={"kept": [0, 1], "lost": [2, 3]})
        >>> score.per_partition["kept"] > 0.999, score.per_partition["lost"] < 0.01
        (True, True)

    Args:
        latents: (N, k) true latents, array or tensor.
        embeddings: (N, d) embedding of the same N samples.
        partitions: groups of latent indices to average separately, by name (as `process.partitions()` gives
            them) or as a sequence.
        fit: `"held-out"` fits on the even rows to predict the odd ones and the other way round, and scores
            all N predictions together. It draws nothing at random; rows should not come in order of time, or
            neighbours answer for one another. `"same"` fits and scores on all rows, which is the papers'
            protocol and flatters an embedding that is wide against N.

    Returns:
        An `R2Score`. Invariant to invertible affine maps of the embedding.

    """
    check_choice(fit, "fit", ("held-out", "same"))
    z = as_matrix(latents, "latents", min_rows=4)
    e = as_matrix(embeddings, "embeddings", rows=("latents", len(z)))
    groups = as_partitions(partitions, z.shape[1])
    rounding = resolution(embeddings)
    z, e = scale_columns(z), scale_columns(e)

    rows = np.arange(len(z))
    folds = [(rows, rows)] if fit == "same" else [(rows[::2], rows[1::2]), (rows[1::2], rows[::2])]
    predicted = np.empty_like(z)
    ranks = []
    for train, test in folds:
        predicted[test], rank = predict_least_squares(e[train], z[train], e[test], rounding)
        ranks.append(rank)

    flags = []
    if min(ranks) < e.shape[1]:
        flags.append(f"embedding has rank {min(ranks)} of {e.shape[1]}")
    if any(rank + 1 >= len(train) for rank, (train, _) in zip(ranks, folds, strict=True)):
        flags.append("as many coefficients as rows: the fit interpolates")
    return score_predictions(
        z,
        predicted,
        groups,
        constant_columns(z, resolution(latents)),
        protocol="linear, held-out halves"
        if fit == "held-out"
        else "linear, fitted and scored on the same rows",
        rank_deficient=min(ranks) < e.shape[1],
        flags=flags,
    )


def predict_least_squares(
    train_x: Matrix, train_y: Matrix, test_x: Matrix, relative_rounding: float
) -> tuple[Matrix, int]:
    """Predict by least squares with intercept; minimum-norm where the inputs are rank deficient.

    One QR of [x, y] without its Q is all the work that grows with N, and unlike the normal equations it
    does not square the condition number. The inputs come scaled to at most 1 in magnitude. Returns the
    predictions and the rank of the centred inputs.
    """
    mean_x, inverse_scale, _ = standardization(train_x, relative_rounding)
    mean_y = train_y.mean(axis=0)
    x, y = (train_x - mean_x) * inverse_scale, train_y - mean_y
    inputs = (test_x - mean_x) * inverse_scale
    if x.shape[1] > x.shape[0]:
        # More columns than rows: the fit lives in the span of the rows, so work in its coordinates.
        basis, _ = np.linalg.qr(x.T)
        x, inputs = x @ basis, inputs @ basis

    d = x.shape[1]
    # (asarray because numpy's type stub takes the triangle alone for a (Q, R) pair)
    triangle: Matrix = np.asarray(np.linalg.qr(np.concatenate([x, y], axis=1), mode="r"))
    left, singular, right = np.linalg.svd(triangle[:d, :d])
    keep = singular > singular[0] * 16 * relative_rounding * np.sqrt(d)
    inverse = np.where(keep, 1.0 / np.where(keep, singular, 1.0), 0.0)
    coefficients = right.T @ (inverse[:, None] * (left.T @ triangle[:d, d:]))
    predicted: Matrix = inputs @ coefficients + mean_y
    return predicted, int(keep.sum())


def score_predictions(
    truth: Matrix,
    predicted: Matrix,
    groups: dict[str, list[int]],
    constant: npt.NDArray[np.bool_],
    *,
    protocol: str,
    rank_deficient: bool,
    flags: list[str],
    settings: dict[str, tuple[float, ...]] | None = None,
) -> R2Score:
    """Compare predictions with the truth, column by column, and average."""
    residual = ((truth - predicted) ** 2).sum(axis=0)
    total = ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
    scores = np.where(constant, 0.0, 1.0 - residual / np.where(constant, 1.0, total))

    def mean_of(indices: list[int]) -> float:
        varying = [index for index in indices if not constant[index]]
        return float(scores[varying].mean()) if varying else 0.0

    return R2Score(
        mean=mean_of(list(range(truth.shape[1]))),
        per_dimension=tuple(scores.tolist()),
        per_partition={name: mean_of(indices) for name, indices in groups.items()},
        protocol=protocol,
        constant_latents=indices_of(constant),
        rank_deficient=rank_deficient,
        flags=(*flags, *constant_flags("latents", constant)),
        settings=settings or {},
    )
