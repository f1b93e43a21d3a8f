"""What every metric does first: turn numpy arrays or tensors into checked float64 arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from aninfonce._validation import check_unmasked, describe

Array = npt.NDArray[Any] | Tensor
Matrix = npt.NDArray[np.float64]
Partitions = Mapping[str, Sequence[int]] | Sequence[Sequence[int]]


def _to_numpy(value: object, name: str, expected: str) -> npt.NDArray[Any]:
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        # numpy has no bfloat16
        return value.double().numpy() if value.is_floating_point() else value.numpy()
    check_unmasked(value, name)
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"`{name}` must be {expected}, got {describe(value)}") from None


def _check_numbers(array: npt.NDArray[Any], name: str, value: object, expected: str, ndim: int) -> Matrix:
    if array.ndim != ndim or array.dtype.kind not in "fiub":
        hint = "; reshape it to (N, 1) if it is one column" if ndim == 2 and array.ndim == 1 else ""
        raise ValueError(f"`{name}` must be {expected}, got {describe(value)}{hint}")
    numbers: Matrix = array.astype(np.float64)
    bad = ~np.isfinite(numbers)
    if bad.any():
        rows = int(bad.reshape(len(bad), -1).any(axis=1).sum())
        raise ValueError(f"`{name}` must be finite, got NaN or infinity in {rows} of {len(numbers)} row(s)")
    return numbers


def as_matrix(
    value: Array,
    name: str,
    *,
    rows: tuple[str, int] | None = None,
    columns: tuple[str, int] | None = None,
    min_rows: int = 1,
    squares: bool = False,
) -> Matrix:
    """Require finite numbers of shape (N, d).

    `rows` and `columns` name the argument they must agree with; `squares` requires that no squared
    distance can overflow.
    """
    expected = "an array or tensor of numbers of shape (N, d)"
    matrix = _check_numbers(_to_numpy(value, name, expected), name, value, expected, ndim=2)
    if matrix.shape[0] < min_rows or matrix.shape[1] < 1:
        raise ValueError(
            f"`{name}` must have at least {min_rows} row(s) and 1 column, got shape {matrix.shape}"
        )
    for axis, word, wanted in ((0, "rows", rows), (1, "columns", columns)):
        if wanted is not None and matrix.shape[axis] != wanted[1]:
            raise ValueError(
                f"`{name}` must have as many {word} as `{wanted[0]}`, {wanted[1]}, got shape {matrix.shape}"
            )
    if squares and np.abs(matrix).max() > 1e140:
        raise ValueError(
            f"`{name}` must be at most 1e140 in magnitude for squared distances, "
            f"got a largest entry of {np.abs(matrix).max():.3g}"
        )
    return matrix


def as_vector(
    value: Array, name: str, *, length: tuple[str, int] | None = None, minimum: float | None = None
) -> Matrix:
    """Require finite numbers of shape (d,); `length` names the argument it must agree with."""
    expected = "an array or tensor of numbers of shape (d,)"
    vector = _check_numbers(_to_numpy(value, name, expected), name, value, expected, ndim=1)
    if length is not None and len(vector) != length[1]:
        raise ValueError(
            f"`{name}` must have as many entries as `{length[0]}`, {length[1]}, got shape {vector.shape}"
        )
    if len(vector) < 1:
        raise ValueError(f"`{name}` must have at least 1 entry, got shape {vector.shape}")
    if minimum is not None and bool((vector < minimum).any()):
        raise ValueError(
            f"`{name}` must be at least {minimum:g} everywhere, got a smallest entry of {vector.min():g}"
        )
    return vector


def as_labels(value: Array | Sequence[Any], name: str, *, rows: tuple[str, int]) -> npt.NDArray[Any]:
    """Require one class label (number, boolean or text) for each row of the argument named in `rows`."""
    expected = f"{rows[1]} class labels of shape (N,), one for each row of `{rows[0]}`"
    labels = _to_numpy(value, name, expected)
    if labels.ndim != 1 or labels.dtype.kind not in "fiubUS" or len(labels) != rows[1]:
        raise ValueError(f"`{name}` must be {expected}, got {describe(value)}")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(
            f"`{name}` must be finite, got NaN or infinity in {(~np.isfinite(labels)).sum()} row(s)"
        )
    return labels


def as_partitions(partitions: Partitions | None, dimensions: int) -> dict[str, list[int]]:
    """Require groups of indices into the latents; a sequence of groups is named '0', '1', ..."""
    if partitions is None:
        return {}
    if isinstance(partitions, Mapping):
        groups = {str(name): group for name, group in partitions.items()}
    elif isinstance(partitions, Sequence):
        groups = {str(name): group for name, group in enumerate(partitions)}
    else:
        raise ValueError(
            "`partitions` must be a mapping from names to latent indices or a sequence of such groups, "
            f"got {describe(partitions)}"
        )
    checked = {}
    for name, group in groups.items():
        expected = f"a non-empty list of distinct latent indices from 0 to {dimensions - 1}"
        indices = _to_numpy(group, f"partitions[{name!r}]", expected)
        entries = indices.tolist()
        if (
            indices.ndim != 1
            or indices.dtype.kind not in "iu"
            or len(set(entries)) < len(entries)
            or not all(0 <= index < dimensions for index in entries)
        ):
            raise ValueError(f"`partitions[{name!r}]` must be {expected}, got {describe(group)}")
        checked[name] = entries
    return checked


def resolution(value: Array) -> float:
    """Relative rounding of the dtype that a value came in: differences below it mean nothing."""
    if isinstance(value, Tensor):
        return torch.finfo(value.dtype if value.is_floating_point() else torch.float64).eps
    dtype = np.asarray(value).dtype
    return float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)


def scale_columns(matrix: Matrix) -> Matrix:
    """Divide each column by its largest magnitude, so that no square of it can overflow."""
    largest = np.abs(matrix).max(axis=0)
    scaled: Matrix = matrix / np.where(largest > 0, largest, 1.0)
    return scaled


def constant_columns(matrix: Matrix, relative_rounding: float) -> npt.NDArray[np.bool_]:
    """Columns that do not vary by more than a few roundings."""
    scaled = scale_columns(matrix)
    constant: npt.NDArray[np.bool_] = np.ptp(scaled, axis=0) <= 4 * relative_rounding
    return constant


def standardization(train: Matrix, relative_rounding: float) -> tuple[Matrix, Matrix, npt.NDArray[np.bool_]]:
    """Mean, inverse deviation and constancy of the training rows of columns scaled to at most 1 overall.

    A constant column gets an inverse of 0, which switches it off: dividing by its rounding noise would blow
    that noise up. What counts is the scale of all rows, so that an outlier elsewhere is not blown up either.
    """
    constant = np.ptp(train, axis=0) <= 4 * relative_rounding
    inverse = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, train.std(axis=0)))
    return train.mean(axis=0), inverse, constant


def normalize_rows(matrix: Matrix) -> Matrix:
    """Scale each row to unit length; a row of zeros stays zero."""
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    scaled = matrix / np.where(largest > 0, largest, 1.0)
    norm = np.linalg.norm(scaled, axis=1, keepdims=True)
    unit: Matrix = scaled / np.where(norm > 0, norm, 1.0)
    return unit


def constant_flags(what: str, constant: npt.NDArray[np.bool_]) -> list[str]:
    """Say which latents, or which embedding dimensions, do not vary; nothing if all do."""
    return [f"constant {what} {list(indices_of(constant))}"] if constant.any() else []


def indices_of(mask: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    """Positions of the true entries, as plain integers."""
    return tuple(int(index) for index in np.flatnonzero(mask))
