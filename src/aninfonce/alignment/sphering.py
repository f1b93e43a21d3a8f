"""From an embedding in Rᵈ to the sphere: the affine map under which it looks like a uniform sphere."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from aninfonce._validation import check_count, check_matrix
from aninfonce.encoders import to_sphere


class AffineMap(NamedTuple):
    """h ↦ A(h − b)."""

    matrix: Tensor
    """A, (d, d), in float64."""
    centre: Tensor
    """b, (d,), in float64."""

    def __call__(self, h: Tensor) -> Tensor:
        """Map (N, d)."""
        return (h.to(self.matrix.dtype) - self.centre) @ self.matrix.T


def sphering_map(h: Tensor, iterations: int = 8) -> AffineMap:
    """Find the affine map whose directions u = A(h − b)/|A(h − b)| have mean 0 and covariance I/d.

    Latents that are uniform on a sphere, embedded in Rᵈ by a map that is linear on it, form an ellipsoid with
    any centre and axes; this makes it round again: Tyler's fixed point for the shape, and one for the centre.

    Example:
        >>> z = to_sphere(torch.randn(20_000, 3, generator=torch.Generator().manual_seed(0)))
        >>> ellipsoid = z @ torch.tensor([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.3]]) + 1.0
        >>> lengths = sphering_map(ellipsoid)(ellipsoid).norm(dim=1)
        >>> bool(lengths.std() < 0.02)
        True

    Args:
        h: embeddings (N, d), N well above d².
        iterations: of the fixed point.

    Returns:
        The map, scaled such that |A(h − b)| is 1 on average.

    References:
        Tyler, "A distribution-free M-estimator of multivariate scatter" (1987).

    """
    check_count(iterations, "iterations")
    h = check_matrix(h, "h", min_rows=2 * h.shape[-1]).double()
    d = h.shape[1]
    centre = h.mean(dim=0)
    matrix = _inverse_root(torch.cov(h.T), d)
    for _ in range(iterations):
        y = (h - centre) @ matrix.T
        length = y.norm(dim=1, keepdim=True).clamp_min(1e-12)
        shift = (y / length).mean(dim=0) / length.reciprocal().mean()
        centre = centre + torch.linalg.solve(matrix, shift)
        u = to_sphere((h - centre) @ matrix.T)
        matrix = _inverse_root(u.T @ u / len(u), d) @ matrix
    scale = ((h - centre) @ matrix.T).norm(dim=1).mean()
    return AffineMap(matrix / scale, centre)


def _inverse_root(covariance: Tensor, d: int) -> Tensor:
    """(d · covariance)^(−1/2); directions without variance are left as they are rather than blown up."""
    values, vectors = torch.linalg.eigh(covariance)
    values = values.clamp_min(values[-1] * 1e-12)
    root: Tensor = (vectors / (values * d).sqrt()) @ vectors.T
    return root
