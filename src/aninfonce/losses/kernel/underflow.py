"""Exponentials below the smallest float32 of full precision, which count as zero.

What lies between that number and the smallest of all is rounded to ever fewer digits, and is nothing beside
the other terms of a sum. But processors multiply it in microcode: on a Cascade Lake of Intel a product of
matrices takes twenty times as long if one entry in a hundred is such a number. Large concentrations make
many.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

# In units of log 2. From here on exponentials have all their digits, times a weight and a coordinate too.
_LOWEST = -116.0
# Exponents, relative to the largest there can be, above which no exponential becomes too small, not even
# times the weight of an anchor in a large batch.
_SAFE = -80.0
# Beside one, what is below 2 to the power of this is nothing, and times a weight it still has all its digits.
_NO_SHARE = -100.0
_LOG_2 = math.log(2)
# Weighted exponentials below this count as zero: times a coordinate they would be too small.
_FAINT = 2.0**-116


def can_underflow(lowest: Tensor) -> bool:
    """Whether entries may become too small.

    Args:
        lowest: (), a bound on the logits from below, in units of log 2, where none lies above zero. On a GPU,
            where small numbers are as quick as others, it is not looked at: that would mean to wait.

    """
    if lowest.dtype is not torch.float32 or lowest.device.type != "cpu":
        return False
    if torch._C._are_functorch_transforms_active():
        return True  # `vmap` has no numbers to read
    return lowest.item() < _SAFE


def exponentials(exponents: Tensor, *, underflow: bool = True) -> Tensor:
    """2 to the power of the exponents, in their memory; zero if too small."""
    if underflow and exponents.dtype is torch.float32:
        torch.threshold_(exponents, _LOWEST, -torch.inf)
    return exponents.exp2_()


def beside_one(logits: Tensor) -> Tensor:
    """Exponentials of logits of which the largest in each row is zero, in their memory; zero if too small.

    By powers of 2: exp takes ten times as long where the result underflows.
    """
    logits.div_(_LOG_2)
    if logits.dtype is torch.float32 and logits.device.type == "cpu":
        torch.threshold_(logits, _NO_SHARE, -torch.inf)
    return logits.exp2_()


def without_faint(weighted: Tensor, *, underflow: bool = True) -> Tensor:
    """Weighted exponentials in their memory, zero if too small; weights may be negative."""
    if underflow and weighted.dtype is torch.float32:
        torch.hardshrink(weighted, _FAINT, out=weighted)
    return weighted
