"""Matrix products in float32 by whichever of torch's two libraries is the quicker.

torch multiplies float32 matrices by MKL, which uses instructions of 512 bits on Intel's processors only.
oneDNN, which comes with torch as well, uses them wherever they exist: on AMD's it takes less than half the
time. On Intel's it takes longer where sums are short, as most are here, and less where they are long
(`python -m benchmarks.products`). The way to it is an operation that torch has for its own compiler. Where
that is missing, or oneDNN is switched off (`torch.backends.mkldnn`), the product is `torch.mm`.

The choice is by the maker of the processor, not by a race at the start: a race can end either way, and the
two round differently.
"""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

# Multiplications from which what a call of oneDNN takes more, 8 µs and cold code, is won back.
_WORTHWHILE = 2**22
_CPUINFO = Path("/proc/cpuinfo")


def product(rows: Tensor, columns: Tensor, out: Tensor | None = None) -> Tensor:
    """Multiply (m, k) by the transpose of (n, k), without autograd.

    Example:
        >>> product(torch.ones(2, 3), torch.ones(4, 3))
        tensor([[3., 3., 3., 3.],
                [3., 3., 3., 3.]])

    Args:
        rows: (m, k); copied unless contiguous.
        columns: (n, k); best if it or its transpose is contiguous.
        out: memory for the result, (m, n), which may be used or not.

    Returns:
        (m, n).

    """
    if is_quick(rows, columns):
        result: Tensor = _linear()(rows, columns, None, "none", [], "")
        return result
    return torch.mm(rows, columns.T, out=out)


def biased_product(
    rows: Tensor, columns: Tensor, of_rows: Tensor, of_columns: Tensor, out: Tensor | None = None
) -> Tensor:
    """Multiply as `product` does, and add a number for each row, (m, 1), and one for each column, (n, 1)."""
    if is_quick(rows, columns):
        result: Tensor = _linear()(rows, columns, of_columns.view(-1), "none", [], "")
        return result.add_(of_rows)
    return torch.add(of_rows, of_columns.T, out=out).addmm_(rows, columns.T)


def add_product(out: Tensor, rows: Tensor, columns: Tensor) -> None:
    """Add (m, k) times (k, n) to `out`, (m, n), without autograd."""
    if is_quick(rows, columns.T):
        out.add_(product(rows, columns.T))
    else:
        out.addmm_(rows, columns)


def is_quick(rows: Tensor, columns: Tensor) -> bool:
    """Whether the product is oneDNN's: it is there, made for these tensors, and the quicker."""
    m, k = rows.shape
    if m * k * columns.shape[0] < _WORTHWHILE:
        return False
    if _linear() is None or not torch.backends.mkldnn.enabled:
        return False
    if torch.is_grad_enabled() and (rows.requires_grad or columns.requires_grad):
        return False
    # A part of wider rows would take oneDNN thousands of times longer.
    if not (columns.is_contiguous() or columns.T.is_contiguous()):
        return False
    # A tensor of another class may stand for one without memory.
    return all(
        type(x) is Tensor and x.dtype is torch.float32 and x.device.type == "cpu" for x in (rows, columns)
    )


@cache
def _linear() -> Any:
    """Give oneDNN's product, or None if it is missing or would win nothing."""
    return None if _is_intels() else onednn_product()


def onednn_product() -> Any:
    """Give oneDNN's product of (m, k) by the transpose of (n, k), whether quick or not; None without one."""
    if torch.backends.cpu.get_cpu_capability() != "AVX512" or not torch._C._has_mkldnn:
        return None
    try:
        linear = torch.ops.mkldnn._linear_pointwise.default
        some = torch.arange(6.0).view(2, 3)
        agrees = torch.equal(linear(some, some, None, "none", [], ""), some @ some.T)
    except (AttributeError, RuntimeError, TypeError):
        return None
    return linear if agrees else None


def _is_intels() -> bool:
    """Whether the processor is Intel's: there MKL uses all of it."""
    try:
        about = _CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:  # not Linux
        about = platform.processor()
    return "GenuineIntel" in about
