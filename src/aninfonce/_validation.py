"""Checks of user input, shared by every stage.

Each check returns the value it was given, so that it can be used in an assignment, and raises a
`ValueError` that names the argument, what was expected and what was given.
"""

from __future__ import annotations

import math
import operator
import reprlib
import sys
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex, TypeGuard

if TYPE_CHECKING:
    from torch import Tensor

# Longer lists of choices are not printed: an error says where they are listed.
_PRINTED_CHOICES = 8


def is_tensor(value: object) -> TypeGuard[Tensor]:
    """Tell whether a value is a tensor without importing torch: whoever made one has imported it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


_BRIEF = reprlib.Repr()
_BRIEF.maxlevel = 2
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxset = _BRIEF.maxdict = 10
_BRIEF.maxstring = _BRIEF.maxother = 200
_LONGEST = 400


def brief(value: object) -> str:
    """Write a value as Python would, cut short if it is long: it may come from an untrusted file.

    >>> brief(list(range(1_000_000)))
    '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...]'
    """
    try:
        text = _BRIEF.repr(value)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    except Exception:
        # Some integers are too long to be written, and a class may have any `__repr__`.
        return f"a value of type {type(value).__name__}"


def describe(value: object) -> str:
    """Say in a few words what a value is, for an error message."""
    if is_tensor(value):
        return f"a {value.dtype} tensor of shape {tuple(value.shape)} on {value.device}"
    shape = getattr(value, "shape", None)
    if shape is not None and not _is_numpy_number(value):
        return f"{type(value).__name__} of shape {tuple(shape)}"
    return brief(value)


def check_matrix(
    value: Tensor,
    name: str,
    *,
    rows: int | None = None,
    columns: int | None = None,
    min_rows: int = 1,
    min_columns: int = 1,
    finite: bool = True,
) -> Tensor:
    """Require a floating-point tensor of shape (N, d), finite unless `finite` is False."""
    is_matrix = is_tensor(value) and value.ndim == 2 and value.is_floating_point()
    n, d = value.shape if is_matrix else (-1, -1)
    if not is_matrix or (rows is not None and n != rows) or (columns is not None and d != columns):
        expected = f"({'N' if rows is None else rows}, {'d' if columns is None else columns})"
        if is_matrix:
            raise ValueError(f"`{name}` must have shape {expected}, got {tuple(value.shape)}")
        raise ValueError(
            f"`{name}` must be a floating-point tensor of shape {expected}, got {describe(value)}"
        )
    if n < min_rows:
        raise ValueError(f"`{name}` must have at least {min_rows} row(s), got shape {tuple(value.shape)}")
    if d < min_columns:
        raise ValueError(
            f"`{name}` must have at least {min_columns} column(s), got shape {tuple(value.shape)}"
        )
    return check_finite(value, name) if finite else value


def check_vector(
    value: Tensor, name: str, *, length: int | None = None, minimum: float | None = None
) -> Tensor:
    """Require a finite floating-point tensor of shape (d,), optionally bounded from below."""
    expected = f"({'d' if length is None else length},)"
    if not is_tensor(value) or value.ndim != 1 or not value.is_floating_point():
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
    if bool(value.detach().sum().isfinite()):
        return value
    bad = ~value.isfinite()
    if bool(bad.any()):
        rows = bad.reshape(len(bad) if bad.ndim else 1, -1).any(dim=1)
        raise ValueError(
            f"`{name}` must be finite, got NaN or infinity in {int(rows.sum())} of {len(rows)} row(s)"
        )
    return value


def check_unmasked(value: Any, name: str) -> Any:
    """Require that no value is masked: what lies behind the mask of an array would be taken for data."""
    np = sys.modules.get("numpy")
    if np is not None and isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"`{name}` must have no masked values, got {int(value.mask.sum())} of them")
    return value


def check_same_device(**tensors: Tensor | None) -> None:
    """Require that all given tensors live on one device."""
    devices = {name: tensor.device for name, tensor in tensors.items() if tensor is not None}
    if len(set(devices.values())) > 1:
        found = ", ".join(f"`{name}` on {device}" for name, device in devices.items())
        raise ValueError(f"all tensors must be on one device, got {found}")


def check_number(
    value: SupportsFloat, name: str, *, minimum: float = -math.inf, exclusive: bool = False
) -> float:
    """Require a finite real number, Python's or numpy's, that is at least (or above) a minimum."""
    bound = f" {'above' if exclusive else 'at least'} {minimum:g}" if minimum > -math.inf else ""
    try:
        # A text such as "3" would pass for a number, and True for 1.
        number = None if isinstance(value, str | bytes) or _is_bool(value) else float(value)
    except (TypeError, ValueError, RuntimeError):
        number = None
    if number is None:
        raise ValueError(f"`{name}` must be a finite number{bound}, got {describe(value)}")
    if not math.isfinite(number) or number < minimum or (exclusive and number == minimum):
        raise ValueError(f"`{name}` must be a finite number{bound}, got {number:g}")
    return number


def check_count(value: SupportsIndex, name: str, *, minimum: int = 1) -> int:
    """Require a whole number, Python's or numpy's, of at least `minimum`; gives it as Python's."""
    try:
        number = None if _is_bool(value) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < minimum:
        raise ValueError(f"`{name}` must be a whole number of at least {minimum}, got {describe(value)}")
    return number


def check_flag(value: Any, name: str) -> bool:
    """Require True or False, Python's or numpy's: a text such as "no" would pass for True."""
    if value is True or value is False:
        return value
    if not _is_bool(value):
        raise ValueError(f"`{name}` must be True or False, got {describe(value)}")
    return bool(value)


def _is_bool(value: object) -> bool:
    return isinstance(value, bool) or str(getattr(value, "dtype", "")) in ("bool", "torch.bool")


def _is_numpy_number(value: object) -> bool:
    """Recognise a numpy number without importing numpy: whoever made one has imported it."""
    np = sys.modules.get("numpy")
    return np is not None and isinstance(value, np.generic)


def check_choice(value: str, name: str, choices: Collection[str], *, listed_by: str = "") -> str:
    """Require one of several names; the error suggests the nearest, and lists all if they are few.

    Example:
        >>> check_choice("mnits", "name", ("mnist", "cifar10"))
        Traceback (most recent call last):
        ValueError: `name` must be one of 'mnist', 'cifar10', got 'mnits'; did you mean 'mnist'?

    Args:
        value: as the user gave it.
        name: of the argument.
        choices: what it may be.
        listed_by: the command or function that lists the choices, where they are too many for an error.

    """
    if not isinstance(value, str) or value not in choices:
        few = len(choices) <= _PRINTED_CHOICES or not listed_by
        expected = f"one of {', '.join(map(repr, choices))}" if few else f"a name from {listed_by}"
        raise ValueError(f"`{name}` must be {expected}, got {describe(value)}{did_you_mean(value, choices)}")
    return value


def did_you_mean(value: object, choices: Iterable[str]) -> str:
    """Suggest the nearest of several names, as the end of an error message; empty if none is near.

    Example:
        >>> did_you_mean("Fig22", ["fig2", "fig12", "table1"])
        "; did you mean 'fig2' or 'fig12'?"

    """
    close = [repr(name) for name in nearest_names(value, choices)]
    return f"; did you mean {' or '.join(filter(None, (', '.join(close[:-1]), close[-1])))}?" if close else ""


def nearest_names(value: object, choices: Iterable[str], *, cutoff: float = 0.6) -> list[str]:
    """Give up to three names like a mistyped one, the nearest first; case does not count."""
    import difflib

    lowered = {choice.lower(): choice for choice in choices}
    found = difflib.get_close_matches(str(value).lower(), lowered, n=3, cutoff=cutoff)
    return [lowered[name] for name in found]


def plain(value: Any) -> Any:
    """Turn numpy's numbers and arrays, at any depth of lists and dictionaries, into Python's own.

    Settings come from searches and files, where numbers are often numpy's; JSON knows only Python's.

    Example:
        >>> import numpy as np
        >>> plain({"width": np.int64(64), "slopes": (np.float32(0.5), np.bool_(True))})
        {'width': 64, 'slopes': (0.5, True)}

    """
    if _is_numpy_number(value):
        return value.item()
    np = sys.modules.get("numpy")
    if np is not None and isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {plain(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value)) if type(value) in (list, tuple) else [*map(plain, value)]
    return value
