"""The sampler of the AnInfoNCE authors, kept so that its bias can be shown."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from aninfonce._validation import check_same_device, check_vector
from aninfonce.distributions.base import (
    Conditional,
    check_anchors_on_sphere,
    quadratic_kernel,
    sample_by_rejection,
)


class ApproximateFisherBingham(Conditional):
    """What the authors of AnInfoNCE drew instead of `FisherBingham`: biased, and slow in high dimension.

    A Gaussian step y = z + ε/√Λ is accepted if its norm is within `tolerance` of 1, and y/‖y‖
    returned. The shell has a finite thickness and the projection moves mass, so the density is not
    the one that the theorem assumes.

    >>> from aninfonce.spaces import Sphere
    >>> z = torch.eye(4)
    >>> x = ApproximateFisherBingham(z, torch.full((4,), 25.0)).sample(torch.Generator().manual_seed(0))
    >>> Sphere(4).contains(x)
    tensor([True, True, True, True])

    Args:
        loc: anchors z (N, d) on the unit sphere.
        concentration: diagonal of Λ (d,), positive.
        tolerance: half the thickness of the accepted shell; the authors use 0.1.

    """

    def __init__(self, loc: Tensor, concentration: Tensor, tolerance: float = 0.1) -> None:
        self.loc = check_anchors_on_sphere(loc)
        check_same_device(loc=loc, concentration=concentration)
        check_vector(concentration, "concentration", length=loc.shape[1], minimum=0)
        if not bool((concentration > 0).all()):
            raise ValueError("`concentration` must be positive everywhere for this sampler, got a zero entry")
        self.concentration = concentration.to(loc.dtype)
        self.tolerance = tolerance

    def log_kernel(self, x: Tensor) -> Tensor:
        """−½(x−z)ᵀΛ(x−z) for `x` (..., N, d): the kernel it is meant, and fails, to follow."""
        return quadratic_kernel(x, self.loc, self.concentration)

    def sample(self, generator: Generator | None = None) -> Tensor:
        """Draw one point around each row of `loc`: a tensor (N, d)."""
        spread = self.concentration.rsqrt()

        def propose(rows: Tensor) -> tuple[Tensor, Tensor]:
            noise = torch.randn(
                (len(rows), len(spread)),
                generator=generator,
                dtype=self.loc.dtype,
                device=self.loc.device,
            )
            y = self.loc[rows] + spread * noise
            norm = y.norm(dim=1, keepdim=True)
            return y / norm, ((norm - 1).abs() < self.tolerance)[:, 0]

        return sample_by_rejection(len(self.loc), propose, self.loc.device, what="ApproximateFisherBingham")
