"""Noise added in Rᵈ and projected onto the sphere, as cl-ica does for all but the vMF."""

from __future__ import annotations

from torch import Generator, Tensor

from aninfonce.distributions.base import Conditional
from aninfonce.distributions.product import GeneralizedNormal
from aninfonce.distributions.shaped import ShapedNoise
from aninfonce.spaces import Sphere


class Projected(Conditional):
    """A draw of independent or shaped noise in Rᵈ, scaled to a sphere.

    This is exactly what cl-ica calls a normal or Laplace conditional on the sphere. Its density has no
    closed form, so `log_prob` raises `NotImplementedError`.

    >>> import torch
    >>> from aninfonce.distributions import Laplace
    >>> z = torch.eye(3)
    >>> x = Projected(Laplace(z, scale=0.05), Sphere(3)).sample(torch.Generator().manual_seed(0))
    >>> Sphere(3).contains(x)
    tensor([True, True, True])

    Args:
        base: distribution in Rᵈ with anchors `loc` (N, d).
        sphere: where the draws are projected to.

    """

    def __init__(self, base: GeneralizedNormal | ShapedNoise, sphere: Sphere) -> None:
        if not isinstance(base, GeneralizedNormal | ShapedNoise):
            raise ValueError(
                f"`base` must be a Normal, Laplace, GeneralizedNormal or ShapedNoise, got {base!r}"
            )
        if base.loc.shape[1] != sphere.dim:
            raise ValueError(f"`base` must have {sphere.dim} columns for {sphere}, got {base.loc.shape[1]}")
        self.base = base
        self.sphere = sphere
        self.loc = base.loc

    def sample(self, generator: Generator | None = None) -> Tensor:
        """Draw one point of the sphere for each row of `loc`: a tensor (N, d)."""
        return self.sphere.project(self.base.sample(generator))
