"""The uniform distribution on a bounded space: the marginal of all theorems."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from aninfonce._validation import check_count
from aninfonce.spaces import Box, Space, Sphere


@dataclass(frozen=True)
class Uniform:
    """Uniform distribution on a sphere or a box.

    >>> Sphere(3).contains(Uniform(Sphere(3)).sample(2, torch.Generator().manual_seed(0)))
    tensor([True, True])

    Args:
        space: `Sphere` or `Box`.
        dtype: floating-point type of the draws.
        device: where they are drawn.

    """

    space: Space
    dtype: torch.dtype = torch.float32
    device: torch.device | str = "cpu"

    def __post_init__(self) -> None:
        if not isinstance(self.space, Sphere | Box):
            raise ValueError(f"`space` must be a Sphere or a Box to be uniform on, got {self.space}")

    def sample(self, n: int, generator: Generator | None = None) -> Tensor:
        """Draw `n` points, a tensor (n, d)."""
        check_count(n, "n")
        shape = (n, self.space.dim)
        if isinstance(self.space, Sphere):
            return self.space.project(
                torch.randn(shape, generator=generator, dtype=self.dtype, device=self.device)
            )
        assert isinstance(self.space, Box)
        unit = torch.rand(shape, generator=generator, dtype=self.dtype, device=self.device)
        return unit * self.space.width + self.space.low

    def log_prob(self, x: Tensor) -> Tensor:
        """Log-density of `x` (..., d) with respect to area or volume: a tensor (...), −∞ outside."""
        inside = self.space.contains(x)
        density = torch.full(inside.shape, -self.space.log_volume(), dtype=x.dtype, device=x.device)
        return density.masked_fill(~inside, -torch.inf)
