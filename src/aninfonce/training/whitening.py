"""Inputs of one scale: the fixed affine map in front of an encoder that decorrelates its inputs."""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count, check_matrix

# Directions with less than this share of the largest standard deviation are not blown up further.
_FLOOR = 1e-4


class Whitening(nn.Module):
    """x ↦ W(x − mean), fixed, with covariance I/D, so that inputs have a length near 1.

    Mixed factors in many dimensions come badly conditioned (at d = 20 the covariance of the papers' mixing
    has a condition number near 800), which costs the first layers many steps to undo.

    Example:
        >>> noise = torch.randn(5000, 2, generator=torch.Generator().manual_seed(0))
        >>> x = noise @ torch.tensor([[9.0, 1.0], [0.0, 1.0]])
        >>> torch.allclose(torch.cov(Whitening.of(x)(x).T), torch.eye(2) / 2, atol=1e-3)
        True

    Args:
        dim: columns of the input.

    """

    mean: Tensor
    matrix: Tensor

    def __init__(self, dim: int) -> None:
        super().__init__()
        check_count(dim, "dim")
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("matrix", torch.eye(dim))

    @classmethod
    def of(cls, x: Tensor) -> Self:
        """Estimate the map on inputs (N, D)."""
        columns = check_matrix(x, "x", min_rows=2).double().T
        # Of one column, torch gives the variance as a number.
        values, vectors = torch.linalg.eigh(torch.cov(columns).reshape(len(columns), len(columns)))
        scale = (values.clamp_min(values[-1] * _FLOOR**2) * x.shape[1]).rsqrt()
        whitening = cls(x.shape[1]).to(x.dtype)
        whitening.mean.copy_(x.double().mean(dim=0))
        whitening.matrix.copy_((vectors * scale) @ vectors.T)
        return whitening

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, D)."""
        return (x - self.mean) @ self.matrix.T
