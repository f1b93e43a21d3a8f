"""Inner products, plain and scaled."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count
from aninfonce.similarities._positive import PositiveMap, initial_raw, positive
from aninfonce.similarities.base import Similarity


class Dot(Similarity):
    """Inner product qᵀr; the cosine if the rows have unit length.

    Example:
        >>> import torch
        >>> Dot()(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
        tensor([[11.,  2.]])

    """

    form = "product"

    def pair(self, q: Tensor, r: Tensor) -> Tensor:
        """Inner product of matching rows: (..., d) to (...)."""
        return (q * r).sum(dim=-1)

    def scale_of_columns(self, dtype: torch.dtype) -> float:
        """Nothing to scale."""
        return 1.0


class Scaled(Similarity):
    """Inner product with a trainable positive weight per dimension, qᵀSr (TriCL).

    Example:
        >>> import torch
        >>> similarity = Scaled(2, initial=torch.tensor([1.0, 3.0]))
        >>> similarity(torch.ones(1, 2), torch.ones(1, 2))
        tensor([[4...]], grad_fn=...)

    Args:
        dim: Number of dimensions d.
        initial: Starting value of the diagonal of S, a number or (d,).
        positive_map: "softplus" as in the paper, or "exp".

    References:
        Zhang et al., "Tri-factor contrastive learning" (2023).

    """

    dim: int
    form = "product"

    def __init__(
        self, dim: int, initial: float | Tensor = 1.0, positive_map: PositiveMap = "softplus"
    ) -> None:
        super().__init__()
        self.dim = check_count(dim, "dim")
        self.positive_map = positive_map
        self.raw = nn.Parameter(initial_raw(initial, dim, positive_map))

    @property
    def scale(self) -> Tensor:
        """The diagonal of S, (d,)."""
        return positive(self.raw, self.positive_map)

    def pair(self, q: Tensor, r: Tensor) -> Tensor:
        """Scaled inner product of matching rows: (..., d) to (...)."""
        self.check_width(q=q, r=r)
        return (q * self.scale.to(q.dtype) * r).sum(dim=-1)

    def scale_of_columns(self, dtype: torch.dtype) -> Tensor:
        """√S, (d,)."""
        return positive(self.raw.to(dtype), self.positive_map).sqrt()

    def extra_repr(self) -> str:
        """Show the dimension and the map."""
        return f"dim={self.dim}, positive_map={self.positive_map!r}"
