"""What every similarity offers, and what the fast loss asks of it."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from aninfonce._validation import check_matrix, check_same_device


class Factors(NamedTuple):
    """A similarity matrix written as one product: query @ key.T + query_bias[:, None] + key_bias."""

    query: Tensor
    key: Tensor
    query_bias: Tensor
    key_bias: Tensor

    def matrix(self) -> Tensor:
        """Multiply out to the (N, M) matrix."""
        return torch.addmm(self.key_bias, self.query, self.key.T) + self.query_bias[:, None]


class Similarity(nn.Module):
    """Base of the similarities: a larger value means more alike.

    A subclass implements `pair`, and either `factor` (if its matrix is one matrix product and two
    biases, which is what the fast loss uses) or `matrix`.

    Example:
        >>> import torch
        >>> class Correlation(Similarity):
        ...     def pair(self, q, r):
        ...         return torch.cosine_similarity(q, r, dim=-1)
        ...     def matrix(self, q, r):
        ...         return torch.cosine_similarity(q[:, None], r[None], dim=-1)
        >>> Correlation()(torch.eye(2), torch.eye(2))
        tensor([[1., 0.],
                [0., 1.]])

    """

    # pytorch-metric-learning reads this: larger is closer.
    is_inverted: ClassVar[bool] = True

    def forward(self, q: Tensor, r: Tensor | None = None) -> Tensor:
        """Similarity of every row of `q` with every row of `r`.

        Args:
            q: (N, d).
            r: (M, d); `q` itself if not given.

        Returns:
            (N, M). Half precision is computed in float32 and returned as it came.

        """
        r = q if r is None else r
        check_matrix(q, "q")
        check_matrix(r, "r", columns=q.shape[1])
        check_same_device(q=q, r=r)
        dtype = torch.promote_types(q.dtype, r.dtype)
        working = torch.promote_types(dtype, torch.float32)
        with torch.autocast(q.device.type, enabled=False):
            return self.matrix(q.to(working), r.to(working)).to(dtype)

    def matrix(self, q: Tensor, r: Tensor) -> Tensor:
        """(N, d) and (M, d) to (N, M), without checks."""
        factors = self.factor(q, r)
        if factors is None:
            raise NotImplementedError(f"{type(self).__name__} must implement `factor` or `matrix`")
        return factors.matrix()

    def pair(self, q: Tensor, r: Tensor) -> Tensor:
        """Similarity of matching rows: (..., d) and (..., d), broadcast, to (...)."""
        raise NotImplementedError(f"{type(self).__name__} must implement `pair`")

    def factor(self, q: Tensor, r: Tensor) -> Factors | None:
        """Write the matrix of (N, d) and (M, d) as one product, or give None if it is not one."""
        return None

    # The rest is the interface that losses and miners of pytorch-metric-learning call.

    def pairwise_distance(self, q: Tensor, r: Tensor) -> Tensor:
        """Similarity of matching rows."""
        return self.pair(q, r)

    def margin(self, x: Tensor, y: Tensor) -> Tensor:
        """By how much the pair with similarity `y` is closer than the one with `x`."""
        return y - x

    def smallest_dist(self, *args: Any, **kwargs: Any) -> Any:
        """Closest of many: the largest similarity."""
        return torch.max(*args, **kwargs)

    def largest_dist(self, *args: Any, **kwargs: Any) -> Any:
        """Farthest of many: the smallest similarity."""
        return torch.min(*args, **kwargs)


def squared_distance_factors(q: Tensor, r: Tensor, weight: float) -> Factors:
    """Write −weight·‖q − r‖² as factors."""
    # Distances do not change with the origin, but the rounding of the expanded square does.
    origin = r.detach().mean(dim=0)
    q, r = q - origin, r - origin
    return Factors(q * (2 * weight), r, -weight * q.square().sum(dim=1), -weight * r.square().sum(dim=1))
