"""Positive numbers as unconstrained parameters."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import softplus

from aninfonce._validation import check_choice, check_number, check_vector

PositiveMap = Literal["exp", "softplus"]


def positive(raw: Tensor, positive_map: PositiveMap) -> Tensor:
    """Map a parameter to positive numbers."""
    return raw.exp() if positive_map == "exp" else softplus(raw)


def initial_raw(initial: float | Tensor, dim: int, positive_map: PositiveMap) -> Tensor:
    """Find the parameter (d,) that `positive` maps to `initial`, a positive number or (d,)."""
    check_choice(positive_map, "positive_map", ("exp", "softplus"))
    if isinstance(initial, Tensor) and initial.ndim > 0:
        value = check_vector(initial, "initial", length=dim).detach().clone()
        if bool((value <= 0).any()):
            raise ValueError(f"`initial` must be above 0 everywhere, got {float(value.min()):g}")
    else:
        value = torch.full((dim,), check_number(float(initial), "initial", minimum=0, exclusive=True))
    # log(e^v − 1) without overflow for large v.
    return value.log() if positive_map == "exp" else value + (-torch.expm1(-value)).log()
