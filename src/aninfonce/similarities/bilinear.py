"""An inner product after a linear map of one side: what a similarity of steps in time is like."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count
from aninfonce.similarities.base import Factors, Similarity


class Bilinear(Similarity):
    """(Mᵀq + b)ᵀr with a trainable matrix M and offset b; not symmetric, unlike a distance.

    It can say where a pair goes: to what is ahead of `q` on a circle rather than to what is behind.

    Example:
        >>> import torch
        >>> similarity = Bilinear(2)
        >>> similarity(torch.tensor([[1.0, 2.0]]), torch.eye(2))  # M starts as the identity
        tensor([[1., 2.]], grad_fn=...)

    Args:
        dim: Number of dimensions d.

    """

    dim: int

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = check_count(dim, "dim")
        self.operator = nn.Parameter(torch.eye(dim))
        self.offset = nn.Parameter(torch.zeros(dim))

    def ahead(self, q: Tensor) -> Tensor:
        """Map (..., d) to what the other side is compared with."""
        return q @ self.operator.to(q.dtype) + self.offset.to(q.dtype)

    def pair(self, q: Tensor, r: Tensor) -> Tensor:
        """Similarity of matching rows: (..., d) to (...)."""
        self.check_width(q=q, r=r)
        return (self.ahead(q) * r).sum(dim=-1)

    def factor(self, q: Tensor, r: Tensor) -> Factors:
        """One product, without biases."""
        self.check_width(q=q, r=r)
        return Factors(self.ahead(q), r, q.new_zeros(len(q)), r.new_zeros(len(r)))

    def extra_repr(self) -> str:
        """Show the dimension."""
        return f"dim={self.dim}"
