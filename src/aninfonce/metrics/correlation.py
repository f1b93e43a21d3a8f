"""Whether each latent sits in an embedding dimension of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from aninfonce._validation import check_choice, describe
from aninfonce.metrics._arrays import (
    Array,
    Matrix,
    as_matrix,
    constant_columns,
    constant_flags,
    indices_of,
    resolution,
    scale_columns,
)
from aninfonce.metrics._result import Result


@dataclass(frozen=True, repr=False)
class MeanCorrelation(Result):
    """Correlation of each latent with the one embedding dimension that is matched to it.

    A latent without a partner (fewer embedding dimensions than latents) scores 0 and counts. A constant
    latent scores 0 and is left out of the mean, as in `R2Score`.

    Attributes:
        mean: of |correlation| over all latents that vary.
        per_dimension: |correlation| of each latent with its partner.
        matching: embedding dimension matched to each latent, or None.
        signs: +1 or −1 where a latent and its partner run alike or opposite, 0 without correlation.
        protocol: in words, which correlation and which padding.
        constant_latents: indices of latents that do not vary.
        constant_embeddings: indices of embedding dimensions that do not vary; they correlate with nothing.
        flags: everything unusual about the input, in words; empty if all is well.

    """

    mean: float
    per_dimension: tuple[float, ...]
    matching: tuple[int | None, ...]
    signs: tuple[int, ...]
    protocol: str
    constant_latents: tuple[int, ...] = ()
    constant_embeddings: tuple[int, ...] = ()
    flags: tuple[str, ...] = ()

    def __float__(self) -> float:
        return self.mean


def mean_correlation_coefficient(
    latents: Array,
    embeddings: Array,
    *,
    method: Literal["pearson", "spearman"] = "pearson",
    padding: Literal["none", "noise"] = "none",
    generator: torch.Generator | None = None,
) -> MeanCorrelation:
    """Mean |correlation| under the best one-to-one matching of latents and embedding dimensions.

    It is low for an embedding that mixes latents even if it lost none: where Λ has equal entries such a
    rotation is allowed, so read `linear_r2` and `block_orthogonality` there instead.

    Example:
        >>> import numpy as np
        >>> z = np.random.default_rng(0).normal(size=(1000, 3))
        >>> score = mean_correlation_coefficient(z, z[:, [2, 0, 1]] * [1.0, -2.0, 5.0])
        >>> round(score.mean, 6), score.matching, score.signs
        (1.0, (1, 2, 0), (-1, 1, 1))

    Args:
        latents: (N, k) true latents, array or tensor.
        embeddings: (N, d) embedding of the same N samples; d may differ from k.
        method: `"pearson"`, or `"spearman"` on the ranks, which forgives monotone distortions.
        padding: `"none"` matches the k latents to the best of the d dimensions. `"noise"` is the KITTI Masks
            protocol: Gaussian noise columns fill the latents up to d columns before the matching, and the
            mean is over the real ones.
        generator: draws the noise columns; required for them.

    Returns:
        A `MeanCorrelation`. Invariant to permutation, sign and scale of the embedding dimensions.

    """
    check_choice(method, "method", ("pearson", "spearman"))
    check_choice(padding, "padding", ("none", "noise"))
    z = as_matrix(latents, "latents", min_rows=3)
    e = as_matrix(embeddings, "embeddings", rows=("latents", len(z)))
    constant_z = constant_columns(z, resolution(latents))
    constant_e = constant_columns(e, resolution(embeddings))

    k = z.shape[1]
    if padding == "noise":
        if not isinstance(generator, torch.Generator):
            raise ValueError(
                f"`generator` must be a torch.Generator for noise padding, got {describe(generator)}"
            )
        shape = (len(z), max(e.shape[1] - k, 0))
        noise = torch.randn(shape, generator=generator, dtype=torch.float64, device=generator.device)
        z = np.concatenate([z, noise.cpu().numpy()], axis=1)

    correlation = _standardize(z, method, np.pad(constant_z, (0, z.shape[1] - k))).T @ _standardize(
        e, method, constant_e
    )
    np.clip(correlation, -1.0, 1.0, out=correlation)
    partner: list[int | None] = [None] * z.shape[1]
    for row, column in zip(*linear_sum_assignment(np.abs(correlation), maximize=True), strict=True):
        partner[row] = int(column)

    signed = np.array([0.0 if j is None else correlation[i, j] for i, j in enumerate(partner[:k])])
    varying = ~constant_z
    return MeanCorrelation(
        mean=float(np.abs(signed[varying]).mean()) if varying.any() else 0.0,
        per_dimension=tuple(np.abs(signed).tolist()),
        matching=tuple(partner[:k]),
        signs=tuple(int(sign) for sign in np.sign(signed)),
        protocol=method if padding == "none" else f"{method}, latents padded with noise",
        constant_latents=indices_of(constant_z),
        constant_embeddings=indices_of(constant_e),
        flags=(
            *constant_flags("latents", constant_z),
            *constant_flags("embedding dimensions", constant_e),
        ),
    )


def _standardize(matrix: Matrix, method: str, constant: npt.NDArray[np.bool_]) -> Matrix:
    """Columns of zero mean and unit length, ranked first for Spearman; constant columns become zero."""
    columns = rankdata(matrix, axis=0) if method == "spearman" else scale_columns(matrix)
    centred = columns - columns.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    unit: Matrix = np.where(constant, 0.0, centred / np.where(constant | (length == 0), 1.0, length))
    return unit
