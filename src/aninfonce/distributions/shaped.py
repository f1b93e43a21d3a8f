"""Noise of known variance but other than normal form: what happens to a pair if the assumed law is wrong."""

from __future__ import annotations

import math
from typing import Literal, get_args

import torch
from torch import Generator, Tensor

from aninfonce._validation import check_choice, check_matrix, check_same_device, check_vector
from aninfonce.distributions.base import Conditional

Form = Literal["normal", "bimodal", "heavy-tailed", "skewed", "correlated"]
FORMS: tuple[str, ...] = get_args(Form)

_SEPARATION = 0.9
_FREEDOM = 5.0
_CORRELATION = 0.5


class ShapedNoise(Conditional):
    """Δ = e/√Λ in Rᵈ, where each eᵢ has mean 0 and variance 1 whatever its form.

    - "normal": skewness 0, excess kurtosis 0.
    - "bimodal": two normals at ±0.9 of variance 0.19; skewness 0, excess kurtosis −2 · 0.9⁴ = −1.31.
    - "heavy-tailed": Student's t with 5 degrees of freedom, scaled; skewness 0, excess kurtosis 6.
    - "skewed": exponential, less 1; skewness 2, excess kurtosis 6.
    - "correlated": normal, with a correlation of 0.5 between any two coordinates.

    Coordinates are independent except in the last form. There is no density: `log_prob` raises
    `NotImplementedError`.

    >>> around = ShapedNoise(torch.zeros(10_000, 2), torch.tensor([4.0, 100.0]), "skewed")
    >>> x = around.sample(torch.Generator().manual_seed(0))
    >>> bool(((x.var(dim=0) * torch.tensor([4.0, 100.0]) - 1).abs() < 0.1).all())
    True

    Args:
        loc: anchors (N, d).
        concentration: diagonal of Λ (d,): one over the variance of each coordinate.
        form: of the noise.

    """

    def __init__(self, loc: Tensor, concentration: Tensor, form: Form) -> None:
        self.loc = check_matrix(loc, "loc")
        check_same_device(loc=loc, concentration=concentration)
        check_vector(concentration, "concentration", length=loc.shape[1], minimum=0)
        if not bool((concentration > 0).all()):
            raise ValueError(
                "`concentration` must be above 0 everywhere, got a 0: the variance is one over it"
            )
        check_choice(form, "form", FORMS)
        self.scale = concentration.to(loc.dtype).rsqrt()
        self.form = form

    def sample(self, generator: Generator | None = None) -> Tensor:
        """Draw one point around each row of `loc`: a tensor (N, d)."""
        return self.loc + self.scale * self._standard(generator)

    def _standard(self, generator: Generator | None) -> Tensor:
        """Draw e (N, d), of mean 0 and variance 1."""
        like = self.loc
        if self.form == "skewed":
            return torch.empty_like(like).exponential_(generator=generator) - 1
        normal = torch.randn(like.shape, generator=generator, dtype=like.dtype, device=like.device)
        if self.form == "bimodal":
            side = torch.empty_like(normal).uniform_(generator=generator).sub(0.5).sign()
            return _SEPARATION * side + math.sqrt(1 - _SEPARATION**2) * normal
        if self.form == "heavy-tailed":
            # Half a χ² of ν degrees of freedom is Gamma(ν/2, 1); t has the variance ν/(ν − 2).
            half = torch._standard_gamma(torch.full_like(normal, _FREEDOM / 2), generator=generator)
            return normal * math.sqrt((_FREEDOM - 2) / 2) / half.sqrt()
        if self.form == "correlated":
            shared = torch.randn((len(like), 1), generator=generator, dtype=like.dtype, device=like.device)
            return math.sqrt(_CORRELATION) * shared + math.sqrt(1 - _CORRELATION) * normal
        return normal
