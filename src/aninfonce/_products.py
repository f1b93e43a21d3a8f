"""Matrix products in float32 by whichever of torch's two libraries is the quicker.

torch multiplies float32 matrices by MKL, which uses instructions of 512 bits on Intel's processors only. oneDNN, which
comes with torch as well, uses them wherever they exist: on AMD's it takes less than half the time. Its way in is an
operation that torch makes for its own compiler; wherever that is missing, or switched off by
`torch.backends.mkldnn`, the product is `torch.mm`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

# Multiplications from which the 8 µs more that a call of oneDNN takes are won back.
_WORTHWHILE = 2**22


def product(rows: Tensor, columns: Tensor, out: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    """Multiply (m, k) by the transpose of (n, k), without autograd.

    Example:
        >>> product(torch.ones(2, 3), torch.ones(4, 3))
        tensor([[3., 3., 3., 3.],
                [3., 3., 3., 3.]])

    Args:
        rows: (m, k); copied unless contiguous.
        columns: (n, k); best if it or its transpose is contiguous.
        out: memory for the result, (m, n), which may be used or not.
        bias: added to every row of the result, (n,).

    Returns:
        (m, n).

    """
    m, k = rows.shape
    if m * k * columns.shape[0] >= _WORTHWHILE and _serves(rows, columns):
        result: Tensor = _linear()(rows, columns, bias, "none", [], "")
        return result
    if bias is None:
        return torch.mm(rows, columns.T, out=out)
    return torch.addmm(bias, rows, columns.T, out=out)


def _serves(rows: Tensor, columns: Tensor) -> bool:
    """Whether oneDNN is there, and made for these tensors."""
    if _linear() is None or not torch.backends.mkldnn.enabled:
        return False
    # A part of wider rows would take oneDNN thousands of times longer.
    if not (columns.is_contiguous() or columns.T.is_contiguous()):
        return False
    # A tensor of another class may stand for one without memory.
    return all(type(x) is Tensor and x.dtype is torch.float32 and x.device.type == "cpu" for x in (rows, columns))


@cache
def _linear() -> Any:
    """Give oneDNN's product, or None if it is missing or would win nothing."""
    if torch.backends.cpu.get_cpu_capability() != "AVX512" or not torch.backends.mkldnn.is_available():
        return None
    try:
        linear = torch.ops.mkldnn._linear_pointwise.default
        some = torch.arange(6.0).view(2, 3)
        agrees = torch.equal(linear(some, some, None, "none", [], ""), some @ some.T)
    except (AttributeError, RuntimeError, TypeError):
        return None
    return linear if agrees else None
