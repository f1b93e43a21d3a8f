"""Checks of user input, shared by every stage.

Each check returns the value it was given, so that it can stand in an assignment, and raises a
`ValueError` that names the argument, what came and what was expected.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import torch
from torch import Tensor


def describe(value: object) -> str:
    """Say in a few words what a value is, for an error message."""
    if isinstance(value, Tensor):
        return f"a {value.dtype} tensor of shape {tuple(value.shape)} on {value.device}"
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"{type(value).__name__} of shape {tuple(shape)}"
    return repr(value)


def check_matrix(
    value: Tensor,
    name: str,
    *,
    rows: int | None = None,
    columns: int | None = None,
    min_rows: int = 1,
    min_columns: int = 1,
) -> Tensor:
    """Require a finite floating-point tensor of shape (N, d)."""
    expected = f"({'N' if rows is None else rows}, {'d' if columns is None else columns})"
    if not isinstance(value, Tensor) or value.ndim != 2 or not value.is_floating_point():
        raise ValueError(
            f"`{name}` must be a floating-point tensor of shape {expected}, got {describe(value)}"
        )
    n, d = value.shape
    if (rows is not None and n != rows) or (columns is not None and d != columns):
        raise ValueError(f"`{name}` must have shape {expected}, got {tuple(value.shape)}")
    if n < min_rows:
        raise ValueError(f"`{name}` must have at least {min_rows} row(s), got shape {tuple(value.shape)}")
    if d < min_columns:
        raise ValueError(
            f"`{name}` must have at least {min_columns} column(s), got shape {tuple(value.shape)}"
        )
    return check_finite(value, name)


def check_vector(
    value: Tensor, name: str, *, length: int | None = None, minimum: float | None = None
) -> Tensor:
    """Require a finite floating-point tensor of shape (d,), optionally bounded from below."""
    expected = f"({'d' if length is None else length},)"
    if not isinstance(value, Tensor) or value.ndim != 1 or not value.is_floating_point():
        raise ValueError(
            f"`{name}` must be a floating-point tensor of shape {expected}, got {describe(value)}"
        )
    if length is not None and len(value) != length:
        raise ValueError(f"`{name}` must have shape {expected}, got {tuple(value.shape)}")
    check_finite(value, name)
    if minimum is not None and bool((value < minimum).any()):
        raise ValueError(
            f"`{name}` must be at least {minimum:g} everywhere, got an entry of {float(value.min()):g}"
        )
    return value


def check_finite(value: Tensor, name: str) -> Tensor:
    """Require that no entry is NaN or infinite; the message counts the offending rows."""
    # The sum is not finite if any entry is not, at a fraction of the cost of a mask. A finite
    # tensor whose sum overflows falls through to the exact test.
    if bool(torch.isfinite(value.detach().sum())):
        return value
    bad = ~torch.isfinite(value)
    if bool(bad.any()):
        rows = bad.reshape(len(bad) if bad.ndim else 1, -1).any(dim=1)
        raise ValueError(
            f"`{name}` must be finite, got NaN or infinity in {int(rows.sum())} of {len(rows)} row(s)"
        )
    return value


def check_same_device(**tensors: Tensor | None) -> None:
    """Require that all given tensors live on one device."""
    devices = {name: tensor.device for name, tensor in tensors.items() if tensor is not None}
    if len(set(devices.values())) > 1:
        found = ", ".join(f"`{name}` on {device}" for name, device in devices.items())
        raise ValueError(f"all tensors must be on one device, got {found}")


def check_number(value: float, name: str, *, minimum: float = -math.inf, exclusive: bool = False) -> float:
    """Require a finite real number that is at least (or, if exclusive, above) a minimum."""
    bound = f" {'above' if exclusive else 'at least'} {minimum:g}" if minimum > -math.inf else ""
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"`{name}` must be a finite number{bound}, got {describe(value)}") from None
    if not math.isfinite(number) or number < minimum or (exclusive and number == minimum):
        raise ValueError(f"`{name}` must be a finite number{bound}, got {number:g}")
    return number


def check_count(value: int, name: str, *, minimum: int = 1) -> int:
    """Require a whole number of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise ValueError(f"`{name}` must be a whole number of at least {minimum}, got {describe(value)}")
    return value


def check_choice(value: str, name: str, choices: Collection[str]) -> str:
    """Require one of a few names."""
    if value not in choices:
        raise ValueError(f"`{name}` must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value
