"""The von Mises–Fisher distribution: the isotropic conditional on the unit sphere."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from aninfonce._validation import check_number
from aninfonce.distributions._bessel import log_bessel_ratio
from aninfonce.distributions.base import Conditional, check_anchors_on_sphere, sample_by_rejection


class VonMisesFisher(Conditional):
    """Density ∝ exp(κ zᵀx) on the unit sphere of Rᵈ, d ≥ 2, drawn exactly for κ from 0 to 1e5 and beyond.

    >>> z = torch.eye(3)
    >>> x = VonMisesFisher(z, concentration=100.0).sample(torch.Generator().manual_seed(0))
    >>> bool(((x * z).sum(dim=1) > 0.8).all())
    True

    Args:
        loc: anchors z (N, d) on the unit sphere.
        concentration: κ ≥ 0; 0 is uniform.

    References:
        Wood, "Simulation of the von Mises Fisher distribution", 1994.

    """

    def __init__(self, loc: Tensor, concentration: float) -> None:
        self.concentration = check_number(concentration, "concentration", minimum=0)
        self.loc = check_anchors_on_sphere(loc)

    def sample(self, generator: Generator | None = None) -> Tensor:
        """Draw one point around each row of `loc`: a tensor (N, d)."""
        gap = self._sample_gap(generator).to(self.loc.dtype)[:, None]
        # A uniform direction in the tangent space at z carries the rest of the norm.
        noise = torch.randn(self.loc.shape, generator=generator, dtype=self.loc.dtype, device=self.loc.device)
        tangent = noise - (noise * self.loc).sum(dim=1, keepdim=True) * self.loc
        tangent = torch.nn.functional.normalize(tangent, dim=1)
        return (1 - gap) * self.loc + (gap * (2 - gap)).sqrt() * tangent

    def _sample_gap(self, generator: Generator | None) -> Tensor:
        """Draw 1 − zᵀx, (N,) in float64.

        The gap, not the cosine: at κ = 1e5 all of the law lies within 1e-4 of cosine 1, where
        float32 has hardly any numbers left.
        """
        n, d = self.loc.shape
        kappa = self.concentration
        b = (d - 1) / (2 * kappa + math.hypot(2 * kappa, d - 1))
        # Wood's x₀ = (1 − b)/(1 + b), through its distance from 1.
        centre_gap = 2 * b / (1 + b)
        log_peak = (d - 1) * math.log(centre_gap * (2 - centre_gap))

        def propose(rows: Tensor) -> tuple[Tensor, Tensor]:
            k = len(rows)
            shape = torch.full((2, k), (d - 1) / 2, dtype=torch.float64, device=rows.device)
            gamma = torch._standard_gamma(shape, generator=generator)
            beta = gamma[0] / (gamma[0] + gamma[1])
            gap = 2 * b * beta / (1 - (1 - b) * beta)
            # κ(w − x₀) + (d−1)·log[(1 − x₀w)/(1 − x₀²)], written in the gaps.
            log_accept = (
                kappa * (centre_gap - gap) + (d - 1) * (centre_gap + (1 - centre_gap) * gap).log() - log_peak
            )
            log_u = torch.rand(k, generator=generator, dtype=torch.float64, device=rows.device).log()
            return gap, log_u <= log_accept

        return sample_by_rejection(n, propose, self.loc.device, what="VonMisesFisher")

    def log_kernel(self, x: Tensor) -> Tensor:
        """κ(zᵀx − 1) for `x` (..., N, d): a tensor (..., N)."""
        # Through the difference, which keeps its digits when x is close to z.
        return -0.5 * self.concentration * (x - self.loc).square().sum(dim=-1)

    def log_normalizer(self) -> Tensor:
        """Log-integral of the kernel over the sphere's area: a tensor (N,)."""
        n, d = self.loc.shape
        value = d / 2 * math.log(2 * math.pi) + log_bessel_ratio(d / 2 - 1, self.concentration)
        return self.loc.new_full((n,), value - self.concentration)
