"""Inputs of one scale: the fixed affine map in front of an encoder that decorrelates its inputs."""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count, check_matrix

# Directions with less than this share of the largest standard deviation are not blown up further.
_FLOOR = 1e-4


class Whitening(nn.Module):
    """x ↦ W(x − mean), fixed, with covariance I/K, so that inputs have a length near 1.

    Mixed factors in many dimensions come badly conditioned (at d = 20 the covariance of the papers' mixing
    has a condition number near 800), which costs the first layers many steps to undo.

    Example:
        >>> noise = torch.randn(5000, 2, generator=torch.Generator().manual_seed(0))
        >>> x = noise @ torch.tensor([[9.0, 1.0], [0.0, 1.0]])
        >>> torch.allclose(torch.cov(Whitening.of(x)(x).T), torch.eye(2) / 2, atol=1e-3)
        True

    Args:
        dim: D, columns of the input.
        components: K, columns that are left, those of most variance; all if omitted.

    """

    mean: Tensor
    matrix: Tensor

    def __init__(self, dim: int, components: int | None = None) -> None:
        super().__init__()
        check_count(dim, "dim")
        kept = dim if components is None else check_count(components, "components")
        if kept > dim:
            raise ValueError(f"`components` must be at most the {dim} columns of the input, got {kept}")
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("matrix", torch.eye(kept, dim))

    @classmethod
    def of(cls, x: Tensor, components: int | None = None) -> Self:
        """Estimate the map on inputs (N, D).

        Pixels vary together: those directions in which they hardly vary are noise, and better left out by
        `components` than blown up.
        """
        columns = check_matrix(x, "x", min_rows=2).double().T
        # Of one column, torch gives the variance as a number.
        values, vectors = torch.linalg.eigh(torch.cov(columns).reshape(len(columns), len(columns)))
        whitening = cls(x.shape[1], components).to(x.dtype)
        whitening.mean.copy_(x.double().mean(dim=0))
        scale = (values.clamp_min(values[-1] * _FLOOR**2) * len(whitening.matrix)).rsqrt()
        scaled = (vectors * scale).T
        # Turned back to the inputs' own axes if all are kept: least of a change.
        whitening.matrix.copy_(vectors @ scaled if components is None else scaled[-components:])
        return whitening

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, D) to (N, K)."""
        return (x - self.mean) @ self.matrix.T
