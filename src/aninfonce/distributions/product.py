"""Independent coordinates in Rᵈ: the normal, Laplace and generalised normal distributions.

All three have the density ∝ exp(−|Δ/λ|^β) in each coordinate: Laplace is β = 1 with λ = scale,
the normal is β = 2 with λ = √2·scale. One class carries density and distribution function;
the two special cases only draw faster.
"""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from aninfonce._validation import check_matrix, check_number
from aninfonce.distributions.base import Conditional


class GeneralizedNormal(Conditional):
    """Independent coordinates with density ∝ exp(−|Δ/scale|^shape), Δ = x − loc.

    >>> around = GeneralizedNormal(torch.zeros(4, 2), scale=0.05, shape=3.0)
    >>> around.sample(torch.Generator().manual_seed(0)).shape
    torch.Size([4, 2])

    Args:
        loc: anchors (N, d).
        scale: λ > 0, the same in every coordinate.
        shape: β > 0; 1 is Laplace, 2 is normal with standard deviation λ/√2.

    References:
        Zimmermann et al., "Contrastive Learning Inverts the Data Generating Process", 2021.

    """

    def __init__(self, loc: Tensor, scale: float, shape: float) -> None:
        self.loc = check_matrix(loc, "loc")
        self.scale = check_number(scale, "scale", minimum=0, exclusive=True)
        self.shape = check_number(shape, "shape", minimum=0, exclusive=True)

    @property
    def width(self) -> float:
        """The λ of exp(−|Δ/λ|^β)."""
        return self.scale

    def standard_draws(self, size: tuple[int, ...], generator: Generator | None) -> Tensor:
        """Draw Δ/λ: coordinates with density ∝ exp(−|t|^β)."""
        # |t|^β follows a Gamma(1/β, 1) law. torch has no public gamma sampler that takes a
        # generator; this is the primitive its own distributions are built on.
        power = torch.full(size, 1 / self.shape, dtype=self.loc.dtype, device=self.loc.device)
        return self._signed(torch._standard_gamma(power, generator=generator) ** (1 / self.shape), generator)

    @staticmethod
    def _signed(magnitude: Tensor, generator: Generator | None) -> Tensor:
        """Give each entry a fair random sign."""
        return magnitude.copysign(torch.empty_like(magnitude).uniform_(generator=generator) - 0.5)

    def sample(self, generator: Generator | None = None) -> Tensor:
        """Draw one point around each row of `loc`: a tensor (N, d)."""
        return self.loc + self.width * self.standard_draws(tuple(self.loc.shape), generator)

    def log_kernel(self, x: Tensor) -> Tensor:
        """−Σ|Δ/λ|^β for `x` (..., N, d): a tensor (..., N)."""
        return -((x - self.loc) / self.width).abs().pow(self.shape).sum(dim=-1)

    def log_integral(self) -> float:
        """Log of ∫exp(−|t/λ|^β)dt over one whole coordinate: log(2λΓ(1 + 1/β))."""
        return math.log(2 * self.width) + math.lgamma(1 + 1 / self.shape)

    def log_normalizer(self) -> Tensor:
        """Log-integral of the kernel: a tensor (N,)."""
        d = self.loc.shape[1]
        return self.loc.new_full((len(self.loc),), d * self.log_integral())

    def cdf(self, x: Tensor | float) -> Tensor:
        """Probability of each coordinate to lie below `x`, broadcast against `loc` (N, d)."""
        t: Tensor = (x - self.loc) / self.width
        power = torch.full_like(t, 1 / self.shape)
        half: Tensor = torch.special.gammainc(power, t.abs() ** self.shape) / 2
        return 0.5 + half.copysign(t)


class Laplace(GeneralizedNormal):
    """Independent Laplace coordinates with density ∝ exp(−|Δ|/scale).

    >>> Laplace(torch.zeros(4, 2), scale=0.05).sample(torch.Generator().manual_seed(0)).shape
    torch.Size([4, 2])

    Args:
        loc: anchors (N, d).
        scale: λ > 0.

    """

    def __init__(self, loc: Tensor, scale: float) -> None:
        super().__init__(loc, scale, shape=1.0)

    def standard_draws(self, size: tuple[int, ...], generator: Generator | None) -> Tensor:
        """Draw an exponential magnitude and a sign."""
        magnitude = torch.empty(size, dtype=self.loc.dtype, device=self.loc.device)
        return self._signed(magnitude.exponential_(generator=generator), generator)


class Normal(GeneralizedNormal):
    """Independent normal coordinates with standard deviation `scale`.

    >>> Normal(torch.zeros(4, 2), scale=0.05).sample(torch.Generator().manual_seed(0)).shape
    torch.Size([4, 2])

    Args:
        loc: anchors (N, d).
        scale: standard deviation σ > 0.

    """

    def __init__(self, loc: Tensor, scale: float) -> None:
        super().__init__(loc, scale, shape=2.0)

    @property
    def width(self) -> float:
        """The λ of exp(−|Δ/λ|²): √2·σ."""
        return math.sqrt(2) * self.scale

    def standard_draws(self, size: tuple[int, ...], generator: Generator | None) -> Tensor:
        """Draw by torch's own normal sampler."""
        return torch.randn(
            size, generator=generator, dtype=self.loc.dtype, device=self.loc.device
        ) / math.sqrt(2)
