"""Axes and Λ̂ in flat space, from second moments.

Where pairs depend on each other through (z⁺−z)ᵀΛ(z⁺−z) alone, an embedding trained in Rᵈ with a candidate
potential is h = RΛ^½z + c with an unknown rotation R (`docs/beyond-the-sphere.md`). If the latents are
uncorrelated and of unit variance, the covariance of h is RΛRᵀ: its eigenvectors are the axes, its eigenvalues
are Λ. With several metrics, one for each lag of a recording, the axes are those that diagonalise all at once.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from aninfonce._validation import check_matrix, describe
from aninfonce.alignment.joint import joint_diagonalisation

# Directions with less than this share of the largest variance hold nothing but rounding.
_RANK = 1e-10


class FlatAxes(NamedTuple):
    """The affine map e = A(h − b) to uncorrelated columns of unit variance, and Λ̂ of each."""

    matrix: Tensor
    """A, (d, d), in float64."""
    centre: Tensor
    """b, (d,)."""
    concentration: Tensor
    """(L, d), one row for each metric; the first row ascends."""
    residual: float
    """What one rotation leaves of several metrics off the diagonal, as a share; 0 for one metric."""

    def __call__(self, h: Tensor) -> Tensor:
        """Map embeddings (N, d)."""
        return (h.double() - self.centre) @ self.matrix.T


def flat_axes(h: Tensor, metrics: Tensor) -> FlatAxes:
    """Find the axes of an embedding in Rᵈ from its covariance and the metrics of its pairs.

    Example:
        >>> g = torch.Generator().manual_seed(0)
        >>> z, turn = torch.randn(20_000, 2, generator=g), torch.tensor([[0.6, -0.8], [0.8, 0.6]])
        >>> h = (z * torch.tensor([1.0, 3.0])) @ turn.T  # Λ = 1 and 9
        >>> axes = flat_axes(h, torch.eye(2)[None])
        >>> [round(value) for value in axes.concentration[0].tolist()], axes(h).std(dim=0).round().tolist()
        ([1, 9], [1.0, 1.0])

    Args:
        h: embeddings (N, d).
        metrics: (L, d, d), symmetric: −½ΔᵀMΔ is the similarity of the pairs of each lag.

    Returns:
        The map. A direction along which h does not vary gets Λ̂ = 0 and stays as it is.

    """
    h = check_matrix(h, "h", min_rows=2).detach().double()
    d = h.shape[1]
    if not isinstance(metrics, Tensor) or metrics.ndim != 3 or metrics.shape[1:] != (d, d):
        raise ValueError(f"`metrics` must have shape (L, {d}, {d}), got {describe(metrics)}")
    centre = h.mean(dim=0)
    spread, directions = torch.linalg.eigh(torch.cov(h.T).reshape(d, d))
    spread = spread.clamp_min(float(spread[-1]) * _RANK)
    # Whitened, a metric is M′ = C^½MC^½: eigenvalues without units, Λ of latents of unit variance.
    root = directions * spread.sqrt()
    whitened = root.T @ metrics.to(h) @ root
    found = joint_diagonalisation(whitened)
    matrix = found.axes.T @ (directions / spread.sqrt()).T
    return FlatAxes(matrix, centre, found.diagonals, found.residual)


def fix_signs(e: Tensor, x: Tensor) -> Tensor:
    """Choose a sign for each column: its strongest correlation with an input is positive.

    Nothing in the data tells a factor from its negative. A rule keeps equal runs equal, and lets two runs
    that found the same factors agree in most of their signs.

    Example:
        >>> x = torch.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
        >>> fix_signs(-x, x).tolist()
        [-1.0, -1.0]

    Args:
        e: columns (N, d).
        x: inputs of the same rows (N, ...).

    Returns:
        (d,) of 1 and −1.

    """
    inputs = x.flatten(1).double()
    inputs = (inputs - inputs.mean(dim=0)) / inputs.std(dim=0).clamp_min(1e-300)
    covariance = (e.double() - e.double().mean(dim=0)).T @ inputs
    strongest = covariance.gather(1, covariance.abs().argmax(dim=1, keepdim=True))[:, 0]
    return torch.where(strongest < 0, -1.0, 1.0).to(e)


def time_constant(concentration: Tensor, lag: float | Tensor = 1.0) -> Tensor:
    """Time after which a factor's autocorrelation has fallen to 1/e, in the units of the lag.

    A stationary factor of unit variance whose steps are those of an Ornstein–Uhlenbeck process has
    Λ = φ/(1−φ²) with φ = exp(−lag/τ).

    Example:
        >>> phi = torch.tensor([0.5, 0.99])
        >>> (-1 / time_constant(phi / (1 - phi**2))).exp()
        tensor([0.5000, 0.9900])

    Args:
        concentration: Λ (...) of a pair of rows that are `lag` apart, for a factor of unit variance.
        lag: between the two rows.

    Returns:
        τ (...); 0 where Λ is 0.

    """
    value = concentration.clamp_min(0.0)
    # φ = (√(1+4Λ²) − 1)/(2Λ), written without a difference of close numbers; asinh(1/2Λ) = −ln φ.
    decay = torch.asinh(0.5 / value)
    return torch.where(value > 0, lag / decay, torch.zeros_like(value))
