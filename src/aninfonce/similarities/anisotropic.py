"""The similarity of AnInfoNCE: a squared distance with a trainable metric."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count
from aninfonce.similarities._positive import PositiveMap, initial_raw, positive
from aninfonce.similarities.base import Similarity


class Anisotropic(Similarity):
    """−½ΔᵀΛ̂Δ with a trainable diagonal Λ̂: each dimension learns how strongly it varies in a pair.

    Example:
        >>> import torch
        >>> similarity = Anisotropic(2, initial=torch.tensor([4.0, 1.0]))
        >>> similarity(torch.zeros(1, 2), torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
        tensor([[-2.0000, -0.5000]], grad_fn=...)
        >>> similarity.concentration.detach()
        tensor([4., 1.])

    Args:
        dim: Number of dimensions d.
        initial: Starting value of Λ̂, a number or (d,).
        positive_map: Λ̂ = exp(raw), or "softplus" as in the authors' code, which moves by no more
            than the learning rate a step and so needs many more of them.

    References:
        Rusak et al., "InfoNCE: identifying the gap between theory and practice" (2025).

    """

    dim: int
    form = "distance"

    def __init__(self, dim: int, initial: float | Tensor = 1.0, positive_map: PositiveMap = "exp") -> None:
        super().__init__()
        self.dim = check_count(dim, "dim")
        self.positive_map = positive_map
        self.raw = nn.Parameter(initial_raw(initial, dim, positive_map))

    @property
    def concentration(self) -> Tensor:
        """The diagonal of Λ̂, (d,), in the ½ convention."""
        return positive(self.raw, self.positive_map)

    def _concentration(self, dtype: torch.dtype) -> Tensor:
        """Λ̂ in the precision of the rows, so that only the parameter itself may be rounded."""
        return positive(self.raw.to(dtype), self.positive_map)

    def pair(self, q: Tensor, r: Tensor) -> Tensor:
        """−½ΔᵀΛ̂Δ of matching rows: (..., d) to (...)."""
        self.check_width(q=q, r=r)
        return -0.5 * ((q - r).square() * self._concentration(q.dtype)).sum(dim=-1)

    def scale_of_columns(self, dtype: torch.dtype) -> Tensor:
        """√Λ̂, (d,)."""
        return self._concentration(dtype).sqrt()

    def log_of_squared_scale(self, dtype: torch.dtype) -> Tensor | None:
        """Give log Λ̂, (d,), which is the parameter itself."""
        if self.positive_map != "exp":
            return None
        raw: Tensor = self.raw
        return raw if raw.dtype is dtype else raw.to(dtype)

    def extra_repr(self) -> str:
        """Show the dimension and the map."""
        return f"dim={self.dim}, positive_map={self.positive_map!r}"


class Diagonalised(NamedTuple):
    """A full metric in its own axes."""

    concentration: Tensor
    """Eigenvalues, (d,), ascending."""
    rotation: Tensor
    """(d, d): the metric of `z @ rotation` is diagonal."""


class FullAnisotropic(Similarity):
    """−½ΔᵀMΔ with a trainable positive definite matrix M = LLᵀ.

    It fits the metric of an embedding whose axes are not yet aligned with the factors.

    Example:
        >>> import torch
        >>> similarity = FullAnisotropic(3)
        >>> z = torch.randn(5, 3)
        >>> concentration, rotation = similarity.to_diagonal()
        >>> aligned = Anisotropic(3, initial=concentration)
        >>> torch.allclose(similarity(z), aligned(z @ rotation), atol=1e-5)
        True

    Args:
        dim: Number of dimensions d.
        initial: Starting value of the diagonal of M, a number or (d,).

    """

    dim: int
    form = "distance"

    def __init__(self, dim: int, initial: float | Tensor = 1.0) -> None:
        super().__init__()
        self.dim = check_count(dim, "dim")
        # The logarithm of the diagonal of L, and its strictly lower part.
        self.raw = nn.Parameter(0.5 * initial_raw(initial, dim, "exp"))
        self.lower = nn.Parameter(torch.zeros(dim * (dim - 1) // 2, dtype=self.raw.dtype))

    @property
    def root(self) -> Tensor:
        """The Cholesky factor L, (d, d)."""
        row, column = torch.tril_indices(self.dim, self.dim, offset=-1, device=self.raw.device)
        return torch.diag(self.raw.exp()).index_put((row, column), self.lower)

    @property
    def concentration(self) -> Tensor:
        """The matrix M, (d, d), in the ½ convention."""
        root = self.root
        return root @ root.T

    @torch.no_grad()
    def to_diagonal(self) -> Diagonalised:
        """Eigenvalues, and the rotation that aligns an embedding with them."""
        values, vectors = torch.linalg.eigh(self.concentration)
        return Diagonalised(values, vectors)

    def pair(self, q: Tensor, r: Tensor) -> Tensor:
        """−½ΔᵀMΔ of matching rows: (..., d) to (...)."""
        self.check_width(q=q, r=r)
        return -0.5 * ((q - r) @ self.root.to(q.dtype)).square().sum(dim=-1)

    def stretch(self, z: Tensor) -> Tensor:
        """Map by L."""
        self.check_width(z=z)
        return z @ self.root.to(z.dtype)

    def extra_repr(self) -> str:
        """Show the dimension."""
        return f"dim={self.dim}"
