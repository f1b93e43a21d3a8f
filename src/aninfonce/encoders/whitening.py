"""A fixed affine map in front of an encoder that decorrelates its inputs and gives them one scale."""

from __future__ import annotations

from typing import Any, Self

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
    rest: Tensor
    matrix: Tensor

    def __init__(self, dim: int, components: int | None = None) -> None:
        super().__init__()
        check_count(dim, "dim")
        kept = dim if components is None else check_count(components, "components")
        if kept > dim:
            raise ValueError(f"`components` must be at most the {dim} columns of the input, got {kept}")
        self.register_buffer("mean", torch.zeros(dim))
        # What the precision of the mean leaves out: in float64, columns far from zero are centred exactly.
        self.register_buffer("rest", torch.zeros(dim))
        self.register_buffer("matrix", torch.eye(kept, dim))

    @classmethod
    def of(cls, x: Tensor, components: int | None = None) -> Self:
        """Estimate the map on inputs (N, D).

        Pixels vary together: those directions in which they hardly vary are noise, and better left out by
        `components` than blown up.
        """
        rows = check_matrix(x, "x", min_rows=2).double()
        whitening = cls(x.shape[1], components).to(x.dtype)
        kept = len(whitening.matrix)
        whitening.mean.copy_(rows.mean(dim=0))
        values, vectors = _principal(rows - rows.mean(dim=0), 0 if components is None else kept)
        if not float(values[-1]) > 0:
            # Nothing varies, so there is no scale to normalise.
            return whitening
        floor = values[-1] * _FLOOR**2
        scale = (values.clamp_min(floor) * kept).rsqrt()
        if components is not None:
            whitening.matrix.copy_((vectors * scale).T[-components:])
            return whitening
        # Turned back to the inputs' own axes if all are kept: least of a change. What no vector spans does
        # not vary, and is scaled by the floor.
        rest = (floor * kept).rsqrt() if vectors.shape[1] < kept else scale.new_zeros(())
        whitening.matrix.copy_((vectors * (scale - rest)) @ vectors.T)
        whitening.matrix.diagonal().add_(rest)
        return whitening

    @classmethod
    def scaling(cls, x: Tensor) -> Self:
        """Estimate a map on inputs (N, D) that gives each column its own scale and leaves it where it is."""
        check_matrix(x, "x", min_rows=2)
        spread, mean = torch.std_mean(x.double(), dim=0)
        whitening = cls(x.shape[1]).to(x.dtype)
        whitening.mean.copy_(mean)
        floor = (spread.max() * _FLOOR).clamp_min(torch.finfo(x.dtype).tiny)
        whitening.matrix.copy_(torch.diag((spread.clamp_min(floor) * x.shape[1] ** 0.5).reciprocal()))
        return whitening

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, D) to (N, K)."""
        return (x - self.mean - self.rest) @ self.matrix.T

    def shift(self, by: Tensor) -> None:
        """Shift the map by a constant (D,), in float64: what was estimated on x now applies to x + by."""
        # On the CPU: not every device has float64.
        mean = self.mean.cpu().double() + self.rest.cpu().double() + by.cpu()
        self.mean.copy_(mean)
        self.rest.copy_(mean - self.mean.cpu().double())

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *others: Any) -> None:
        # Files of earlier versions do not have it.
        state_dict.setdefault(f"{prefix}rest", torch.zeros_like(self.mean))
        super()._load_from_state_dict(state_dict, prefix, *others)


def _principal(centred: Tensor, fewest: int) -> tuple[Tensor, Tensor]:
    """Find variances, ascending, and directions in columns: all, or of few rows (N, D) those that they span.

    At least `fewest` directions are given, whether rows vary along them or not.
    """
    n, dim = centred.shape
    if n >= dim:
        values, vectors = torch.linalg.eigh(centred.T @ centred / (n - 1))
        return values, vectors
    # A matrix of D × D takes minutes for pixels. N rows span at most N directions.
    _, lengths, spanned = torch.linalg.svd(centred, full_matrices=False)
    missing = max(0, fewest - n)
    if missing:
        # Any directions at right angles to these will do; Householder's reflections find some.
        filled = torch.cat([spanned.T, torch.eye(dim, missing, dtype=centred.dtype)], dim=1)
        extra = torch.linalg.qr(filled).Q[:, n:]
        spanned, lengths = torch.cat([spanned, extra.T]), torch.cat([lengths, lengths.new_zeros(missing)])
    return lengths.flip(0) ** 2 / (n - 1), spanned.flip(0).T
