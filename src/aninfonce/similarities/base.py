"""What every similarity offers, and what the fast loss asks of it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn

from aninfonce._validation import check_matrix, check_same_device


class Factors(NamedTuple):
    """A similarity matrix written as one product: query @ key.T + query_bias[:, None] + key_bias."""

    query: Tensor
    key: Tensor
    query_bias: Tensor
    key_bias: Tensor
    cancels: bool = False
    """Whether product and biases may cancel, as in an expanded square."""
    terms: Tensor | None = None
    """How large what cancels may be, (); by the biases if None."""
    capped: bool = False
    """Whether query @ key.T + query_bias lies nowhere above 0."""

    def matrix(self) -> Tensor:
        """Multiply out to the (N, M) matrix."""
        return torch.addmm(self.key_bias, self.query, self.key.T) + self.query_bias[:, None]


class Similarity(nn.Module):
    """Base of the similarities: a larger value means more alike.

    A subclass implements `pair` and one of four: `scale_of_columns` or `stretch` with a `form` (the fastest:
    the losses then use that the similarity is symmetric), `factor` (if its matrix is one matrix product and
    two biases), or `matrix`.

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
    # Columns that the rows must have; None if any number will do.
    dim: int | None = None
    # How the similarity follows from what `stretch` gives: −½ of the squared distance, or the inner product.
    form: Literal["distance", "product"] | None = None

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
        self.check_width(q=q)
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
            raise NotImplementedError(f"{type(self).__name__} must implement `stretch`, `factor` or `matrix`")
        return factors.matrix()

    def check_width(self, **rows: Tensor) -> None:
        """Require `dim` columns: torch would broadcast a single one, or a single parameter."""
        for name, z in rows.items():
            if self.dim is not None and z.shape[-1] != self.dim:
                raise ValueError(
                    f"`{name}` must have {self.dim} column(s) for `dim={self.dim}`,"
                    f" got shape {tuple(z.shape)}"
                )

    def pair(self, q: Tensor, r: Tensor) -> Tensor:
        """Similarity of matching rows: (..., d) and (..., d), broadcast, to (...)."""
        raise NotImplementedError(f"{type(self).__name__} must implement `pair`")

    def stretch(self, z: Tensor) -> Tensor:
        """Map (n, d) to (n, k), linearly, to where `form` says what the similarity is."""
        self.check_width(z=z)
        scale = self.scale_of_columns(z.dtype)
        if scale is None:
            raise NotImplementedError(f"{type(self).__name__} has a `form` and must implement `stretch`")
        return z * scale

    def scale_of_columns(self, dtype: torch.dtype) -> Tensor | float | None:
        """Give what `stretch` multiplies the columns by, (d,) or a number, if it does nothing else."""
        return None

    def log_of_squared_scale(self, dtype: torch.dtype) -> Tensor | None:
        """Give log(`scale_of_columns`²), (d,), if that is at hand: the losses then save a few calls."""
        return None

    def factor(self, q: Tensor, r: Tensor) -> Factors | None:
        """Write the matrix of (N, d) and (M, d) as one product, or give None if it is not one."""
        if self.form is None:
            return None
        self.check_width(q=q, r=r)
        if self.form == "product":
            query, key = self.stretch(q), self.stretch(r)
            return Factors(query, key, query.new_zeros(len(query)), key.new_zeros(len(key)))
        # Distances do not change with the origin, but the rounding of the expanded square does.
        origin = r.detach().mean(dim=0)
        query, key = self.stretch(q - origin), self.stretch(r - origin)
        query_bias, key_bias = (-0.5 * rows.square().sum(dim=1) for rows in (query, key))
        return Factors(query, key, query_bias, key_bias, cancels=True)

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
