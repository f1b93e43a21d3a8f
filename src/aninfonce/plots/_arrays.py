"""Input of the plots, checked by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from aninfonce._validation import describe, is_tensor

Floats = npt.NDArray[np.float64]


def as_vector(value: Any, name: str, *, length: int | None = None) -> Floats:
    """Require finite numbers of shape (n,); gives them as float64.

    >>> as_vector([1, 2], "scores")
    array([1., 2.])
    """
    array = _as_numbers(value, name)
    if array.ndim != 1 or (length is not None and len(array) != length):
        raise ValueError(
            f"`{name}` must have shape ({'n' if length is None else length},), got {describe(array)}"
        )
    return _finite(array, name)


def as_matrix(value: Any, name: str, *, columns: int | None = None) -> Floats:
    """Require finite numbers of shape (n, d) with at least one row and column; gives them as float64.

    >>> as_matrix([[1, 2]], "z")
    array([[1., 2.]])
    """
    array = _as_numbers(value, name)
    if array.ndim != 2 or not array.size or (columns is not None and array.shape[1] != columns):
        expected = f"(n, {'d' if columns is None else columns})"
        raise ValueError(f"`{name}` must have shape {expected} and not be empty, got {describe(array)}")
    return _finite(array, name)


def _as_numbers(value: Any, name: str) -> Floats:
    try:
        return np.asarray(value.detach().cpu() if is_tensor(value) else value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"`{name}` must be an array of numbers, got {describe(value)}") from None


def _finite(array: Floats, name: str) -> Floats:
    bad = np.logical_not(np.isfinite(array).all(axis=tuple(range(1, array.ndim)), keepdims=True))
    if bad.any():
        raise ValueError(
            f"`{name}` must be finite, got NaN or infinity in {int(bad.sum())} of {len(bad)} row(s)"
        )
    return array
