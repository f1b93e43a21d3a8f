"""Where latents live: the sphere, the box and all of Rᵈ."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from aninfonce._validation import check_count, check_matrix, check_number

# Points handed over in float32 after a few operations sit this close to where they belong.
_TOLERANCE = 1e-4


def within_squares(points: Tensor) -> Tensor:
    """Scale down rows whose entries are too large to be squared; the others stay as they are.

    For rows that are brought to unit length next. The factor is a power of two, so that a direction stays
    exactly as it was.

    >>> within_squares(torch.tensor([[3e30, 4e30], [3.0, 4.0]])).norm(dim=1).isfinite()
    tensor([True, True])

    Args:
        points: (..., d).

    Returns:
        (..., d); rows that were scaled still have an entry of 1 or more.

    """
    bits = math.frexp(torch.finfo(points.dtype).max)[1]
    longest = points.detach().abs().amax(dim=-1, keepdim=True)
    scale = torch.ones_like(longest)
    # Two factors, for large and for huge entries: either leaves the longest at 1 or above.
    for exponent in (7 * bits // 16, 23 * bits // 32):
        scale.masked_fill_(longest > 2.0**exponent, 2.0**-exponent)
    return points * scale


@dataclass(frozen=True)
class Space(ABC):
    """A subset of Rᵈ. Points are rows of (N, d) tensors."""

    dim: int

    @abstractmethod
    def contains(self, points: Tensor) -> Tensor:
        """Tell for each row of `points` (..., d) whether it lies in the space, to float32 rounding."""

    @abstractmethod
    def log_volume(self) -> float:
        """Logarithm of the space's area or volume; infinite for an unbounded space."""

    def check(self, points: Tensor, name: str) -> Tensor:
        """Return `points` (N, d) if they are finite and lie in the space, else raise a `ValueError`."""
        check_matrix(points, name, columns=self.dim)
        outside = int((~self.contains(points)).sum())
        if outside:
            raise ValueError(f"`{name}` must lie in {self}, got {outside} of {len(points)} row(s) outside")
        return points


@dataclass(frozen=True)
class Sphere(Space):
    """The sphere of given radius around the origin of Rᵈ, d ≥ 2.

    >>> Sphere(3).contains(torch.tensor([[0.6, 0.8, 0.0], [1.0, 1.0, 0.0]]))
    tensor([ True, False])
    """

    radius: float = 1.0

    def __post_init__(self) -> None:
        check_count(self.dim, "dim", minimum=2)
        check_number(self.radius, "radius", minimum=0, exclusive=True)

    def contains(self, points: Tensor) -> Tensor:
        """Tell for each row whether its norm is the radius."""
        norms = torch.linalg.vector_norm(points, dim=-1)
        return torch.isclose(norms, norms.new_tensor(self.radius), rtol=_TOLERANCE, atol=0.0)

    def log_volume(self) -> float:
        """Logarithm of the surface area 2π^{d/2} r^{d−1} / Γ(d/2)."""
        unit = math.log(2) + self.dim / 2 * math.log(math.pi) - math.lgamma(self.dim / 2)
        return unit + (self.dim - 1) * math.log(self.radius)

    def project(self, points: Tensor) -> Tensor:
        """Scale each row of `points` (..., d) to the radius; a zero row stays zero."""
        return torch.nn.functional.normalize(within_squares(points), dim=-1) * self.radius


@dataclass(frozen=True)
class Box(Space):
    """The cube [low, high]ᵈ.

    >>> Box(2).contains(torch.tensor([[0.5, 1.0], [0.5, 1.5]]))
    tensor([ True, False])
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        check_count(self.dim, "dim")
        check_number(self.low, "low")
        check_number(self.high, "high", minimum=self.low, exclusive=True)

    @property
    def width(self) -> float:
        """Length of an edge."""
        return self.high - self.low

    def contains(self, points: Tensor) -> Tensor:
        """Tell for each row whether all coordinates lie between the bounds."""
        slack = _TOLERANCE * self.width
        return ((points >= self.low - slack) & (points <= self.high + slack)).all(dim=-1)

    def log_volume(self) -> float:
        """Logarithm of the volume (high − low)ᵈ."""
        return self.dim * math.log(self.width)


@dataclass(frozen=True)
class Euclidean(Space):
    """All of Rᵈ.

    >>> Euclidean(2).contains(torch.tensor([[1e6, -3.0]]))
    tensor([True])
    """

    def __post_init__(self) -> None:
        check_count(self.dim, "dim")

    def contains(self, points: Tensor) -> Tensor:
        """Tell for each row whether it is finite."""
        return torch.isfinite(points).all(dim=-1)

    def log_volume(self) -> float:
        """Infinite."""
        return math.inf
