"""Numbers noted during a pass, and checked once at its end."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import torch
from torch import Tensor

# Below this, a sum of exponentials may have lost terms to the smallest float32.
SMALLEST = 1e-25
# What the expanded square ‖q‖² − 2q·r + ‖r‖² may cost a logit.
_LARGEST_ERROR = 1e-4
_LARGEST = sys.float_info.max
_FLOAT32, _FLOAT64 = torch.finfo(torch.float32).eps, torch.finfo(torch.float64).eps


class Probes:
    """Numbers that must stay within bounds, or the fast way is not exact.

    Reading a number from a GPU means waiting for it, so all are read together.
    """

    def __init__(self) -> None:
        self.values: list[Tensor] = []
        self.bounds: list[tuple[float, float]] = []

    def at_least(self, value: Tensor, bound: float) -> None:
        """Note a () tensor that must not be lower than the bound."""
        self.values.append(value)
        self.bounds.append((bound, _LARGEST))

    def at_most(self, value: Tensor, bound: float) -> None:
        """Note a () tensor that must not be higher than the bound."""
        self.values.append(value)
        self.bounds.append((-_LARGEST, bound))

    def finite(self, value: Tensor) -> None:
        """Note a () tensor that must be finite."""
        self.values.append(value)
        self.bounds.append((-_LARGEST, _LARGEST))

    def no_cancellation(self, square: Tensor, unit: float = 1.0) -> None:
        """Note the largest squared length (), or −½ of it, of points whose squared distances are expanded.

        The distance of near points is a small difference of such numbers, and inherits their rounding.
        """
        bound = _LARGEST_ERROR / (unit * (_FLOAT32 if square.dtype is torch.float32 else _FLOAT64))
        self.values.append(square)
        self.bounds.append((-0.5 * bound, bound))

    def hold(self) -> bool:
        """Whether all are within their bounds."""
        try:
            numbers = look(self.values)
        except RuntimeError:
            if not torch._C._are_functorch_transforms_active():
                raise
            return True  # `vmap` has no numbers to read
        for number, (low, high) in zip(numbers, self.bounds, strict=True):  # noqa: SIM110  (quicker than `all`)
            if not low <= number <= high:
                return False
        return True


def look(values: Sequence[Tensor]) -> list[float]:
    """Read the numbers of () tensors: the one place in a loss that waits for a GPU."""
    if values[0].device.type == "cpu":
        return [value.item() for value in values]
    numbers: list[float] = torch.stack([value.detach().float() for value in values]).tolist()
    return numbers
