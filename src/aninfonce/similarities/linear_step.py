"""A squared distance after a linear step of one side: what a similarity of pairs that move is like."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count
from aninfonce.similarities.base import Factors, Similarity


class LinearStep(Similarity):
    """−½‖qM + b − r‖² with a trainable matrix M and offset b; not symmetric, unlike a distance.

    It can say where a pair goes: to what is ahead of `q` on a circle rather than to what is behind. The
    length is that of the columns after a linear map, `root`, which starts as the identity and is not trained:
    the encoder has a scale of its own.

    Example:
        >>> import torch
        >>> similarity = LinearStep(2)
        >>> similarity(torch.tensor([[1.0, 2.0]]), torch.eye(2))  # M starts as the identity
        tensor([[-2., -1.]], grad_fn=...)

    Args:
        dim: Number of dimensions d.

    """

    dim: int
    root: Tensor

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = check_count(dim, "dim")
        self.operator = nn.Parameter(torch.eye(dim))
        self.offset = nn.Parameter(torch.zeros(dim))
        self.register_buffer("root", torch.eye(dim))

    def ahead(self, q: Tensor) -> Tensor:
        """Map (..., d) to where the other side is expected."""
        return q @ self.operator.to(q.dtype) + self.offset.to(q.dtype)

    def pair(self, q: Tensor, r: Tensor) -> Tensor:
        """Similarity of matching rows: (..., d) to (...)."""
        self.check_width(q=q, r=r)
        return -0.5 * ((self.ahead(q) - r) @ self.root.to(r.dtype)).square().sum(dim=-1)

    def factor(self, q: Tensor, r: Tensor) -> Factors:
        """One product, and half the squares."""
        self.check_width(q=q, r=r)
        root = self.root.to(r.dtype)
        # Distances do not change with the origin, but the rounding of the expanded square does.
        origin = r.detach().mean(dim=0)
        query, key = (self.ahead(q) - origin) @ root, (r - origin) @ root
        query_bias, key_bias = (-0.5 * rows.square().sum(dim=1) for rows in (query, key))
        return Factors(query, key, query_bias, key_bias, cancels=True)

    @torch.no_grad()
    def change_columns(self, matrix: Tensor, centre: Tensor) -> None:
        """Keep all values after both sides were mapped by h ↦ A(h − b), A: (d, d), b: (d,)."""
        operator, offset = self.operator.double(), self.offset.double()
        # Rows h = eA⁻ᵀ + b give hM + o − h⁺ = (e(A⁻ᵀMAᵀ) + (bM + o − b)Aᵀ − e⁺)A⁻ᵀ.
        back = torch.linalg.inv(matrix.to(operator)).T
        forth, centre = matrix.to(operator).T, centre.to(operator)
        self.offset.copy_((centre @ operator + offset - centre) @ forth)
        self.operator.copy_(back @ operator @ forth)
        self.root.copy_(back @ self.root.double())

    def extra_repr(self) -> str:
        """Show the dimension."""
        return f"dim={self.dim}"
