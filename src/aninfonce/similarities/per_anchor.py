"""The similarity of pairs whose steps depend on where they start: each anchor has a metric of its own."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, linear

from aninfonce._validation import check_count
from aninfonce.similarities._positive import PositiveMap, initial_raw, positive
from aninfonce.similarities.base import Factors, Similarity

# The head moves log Λ̂ by at most this much, smoothly: a factor of 55 either way. Without a bound, one row far
# outside of all others could make Λ̂ overflow.
_FARTHEST = 4.0


def per_anchor_factors(q: Tensor, r: Tensor, concentration: Tensor) -> Factors:
    """Write −½ΔᵀΛᵢΔ, with one Λᵢ for each row of `q`, as one product of 2d features and a bias.

    −½Σₖ Λᵢₖ(qᵢₖ − rⱼₖ)² = [Λᵢqᵢ, −½Λᵢ]·[rⱼ, rⱼ²] − ½Σₖ Λᵢₖqᵢₖ², so that a kernel which takes products of thin
    matrices needs no (N, M, d) differences, and no (N, M) matrix.

    Example:
        >>> q, r = torch.zeros(2, 1), torch.tensor([[1.0], [2.0]])
        >>> per_anchor_factors(q, r, torch.tensor([[1.0], [4.0]])).matrix()
        tensor([[-0.5000, -2.0000],
                [-2.0000, -8.0000]])

    Args:
        q: Anchors, (N, d).
        r: What they are compared with, (M, d).
        concentration: Λ of each anchor, (N, d), positive.

    Returns:
        The factors.

    """
    # Distances do not change with the origin, but the rounding of the expanded square does.
    origin = r.detach().mean(dim=0)
    q, r = q - origin, r - origin
    weighted = concentration * q
    bias = -0.5 * (weighted * q).sum(dim=1)
    query = torch.cat([weighted, -0.5 * concentration], dim=1)
    key = torch.cat([r, r.square()], dim=1)
    # Only near rows matter, and their terms are as large as those of the anchor: where rⱼ is far larger than
    # qᵢ, so is the distance, and the exponential is zero.
    terms = -2.0 * bias.detach().amin()
    return Factors(query, key, bias, r.new_zeros(len(r)), cancels=True, terms=terms, capped=True)


class PerAnchor(Similarity):
    """−½ΔᵀΛ̂(q)Δ with a diagonal Λ̂ that a small network gives for each anchor q; not symmetric.

    Λ̂(q) = exp(raw + head(q)). The head starts at zero: one Λ̂ for all, until it learns otherwise.

    Example:
        >>> import torch
        >>> similarity = PerAnchor(2, initial=torch.tensor([4.0, 1.0]))
        >>> similarity(torch.zeros(1, 2), torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
        tensor([[-2.0000, -0.5000]], grad_fn=...)
        >>> similarity.concentration_at(torch.randn(5, 2)).shape
        torch.Size([5, 2])

    Args:
        dim: Number of dimensions d.
        initial: Starting value of Λ̂, a number or (d,).
        positive_map: As in `Anisotropic`.
        width: Units of the head's hidden layer.

    References:
        Λ that depends on where a pair starts: AdaSSL, arXiv 2602.02381 (2026).

    """

    dim: int
    root: Tensor
    centre: Tensor

    def __init__(
        self,
        dim: int,
        initial: float | Tensor = 1.0,
        positive_map: PositiveMap = "exp",
        width: int = 64,
    ) -> None:
        super().__init__()
        self.dim = check_count(dim, "dim")
        self.positive_map = positive_map
        self.raw = nn.Parameter(initial_raw(initial, dim, positive_map))
        last = nn.Linear(check_count(width, "width"), dim)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.layers = nn.Sequential(nn.Linear(dim, width), nn.GELU(), last)
        # Columns may be changed after training: those that Λ̂ belongs to are z @ root + centre.
        self.register_buffer("root", torch.eye(dim))
        self.register_buffer("centre", torch.zeros(dim))

    @property
    def concentration(self) -> Tensor:
        """Λ̂ where the head adds nothing, (d,): what all anchors have at the start."""
        return positive(self.raw, self.positive_map) @ self.root.to(self.raw.dtype).square().T

    def concentration_at(self, z: Tensor) -> Tensor:
        """Λ̂ of anchors, (..., d) to (..., d), in the ½ convention: the diagonal of the metric there."""
        self.check_width(z=z)
        return self._inner(self._columns(z)) @ self.root.to(z.dtype).square().T

    def metric_at(self, z: Tensor) -> Tensor:
        """Metric of anchors, (n, d) to (n, d, d): diagonal unless columns were turned after training."""
        self.check_width(z=z)
        root = self.root.to(z.dtype)
        return (root * self._inner(self._columns(z))[..., None, :]) @ root.T

    def _columns(self, z: Tensor) -> Tensor:
        """Columns that Λ̂ belongs to."""
        return z @ self.root.to(z.dtype) + self.centre.to(z.dtype)

    def _inner(self, h: Tensor) -> Tensor:
        """Λ̂ in the columns that it belongs to, in the precision of these, whatever that of the parameters."""
        first, last = self.layers[0], self.layers[-1]
        assert isinstance(first, nn.Linear)
        assert isinstance(last, nn.Linear)
        hidden = gelu(linear(h, first.weight.to(h.dtype), first.bias.to(h.dtype)))
        share = linear(hidden, last.weight.to(h.dtype), last.bias.to(h.dtype))
        share = _FARTHEST * torch.tanh(share / _FARTHEST)
        return positive(self.raw.to(h.dtype) + share, self.positive_map)

    def pair(self, q: Tensor, r: Tensor) -> Tensor:
        """−½ΔᵀΛ̂(q)Δ of matching rows: (..., d) to (...)."""
        self.check_width(q=q, r=r)
        step = (q - r) @ self.root.to(q.dtype)
        return -0.5 * (step.square() * self._inner(self._columns(q))).sum(dim=-1)

    def factor(self, q: Tensor, r: Tensor) -> Factors:
        """One product of 2d features."""
        self.check_width(q=q, r=r)
        h = self._columns(q)
        return per_anchor_factors(h, self._columns(r), self._inner(h))

    @torch.no_grad()
    def change_columns(self, matrix: Tensor, centre: Tensor) -> None:
        """Keep all values after both sides were mapped by h ↦ A(h − b), A: (d, d), b: (d,)."""
        # Rows h = eA⁻ᵀ + b give hR + c = e(A⁻ᵀR) + (bR + c).
        root, shift = self.root.double(), self.centre.double()
        back = torch.linalg.inv(matrix.to(root)).T
        self.centre.copy_(centre.to(root) @ root + shift)
        self.root.copy_(back @ root)

    def extra_repr(self) -> str:
        """Show the dimension and the map."""
        return f"dim={self.dim}, positive_map={self.positive_map!r}"
