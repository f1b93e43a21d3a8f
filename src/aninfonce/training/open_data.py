"""The data of a configuration: a preset process, or arrays in a file."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

import numpy as np
import torch
from pydantic import ValidationError
from torch import Tensor

from aninfonce._validation import check_finite, describe
from aninfonce.datasets.arrays import Array, list_arrays, read_named
from aninfonce.datasets.images import DatasetError
from aninfonce.processes import DataGeneratingProcess, PairBatch, process
from aninfonce.training.config import DataSettings, describe_problems

_PAIRS = ("x", "x_pos", "x_neg", "z", "z_pos")


def open_data(settings: DataSettings) -> DataGeneratingProcess | PairBatch:
    """Build the process or read the arrays that settings name, as pairs for `fit`.

    If the settings have the sha256 of the arrays, a file with another content is refused.
    """
    if settings.process is not None:
        try:
            return process(settings.process, settings.seed, **settings.options)
        except ValidationError as problems:
            raise ValueError(f"`data.options` of {settings.process}: {describe_problems(problems)}") from None
    assert settings.arrays is not None
    path = settings.arrays
    if settings.sha256 is not None and file_sha256(path) != settings.sha256:
        raise ValueError(f"{path} has changed: it does not have the sha256 that the settings name")
    arrays = read_arrays(path, _PAIRS)
    if not {"x", "x_pos"} <= set(arrays):
        raise ValueError(f"{path} must hold arrays `x` and `x_pos`, got {list_arrays(path)}")
    pairs = PairBatch(arrays["x"], arrays["x_pos"], arrays.get("x_neg"), arrays.get("z"), arrays.get("z_pos"))
    if pairs.x.shape != pairs.x_pos.shape or pairs.x.ndim < 2 or len(pairs) < 2:
        raise ValueError(
            f"`x` and `x_pos` of {path} must have one shape (N, ...) with N ≥ 2, got {tuple(pairs.x.shape)}"
            f" and {tuple(pairs.x_pos.shape)}"
        )
    for name in ("x_neg", "z", "z_pos"):
        values = getattr(pairs, name)
        if values is not None and values.shape[:1] != pairs.x.shape[:1]:
            raise ValueError(f"`{name}` of {path} must have {len(pairs)} rows, got {describe(values)}")
    return pairs


def with_sha256(settings: DataSettings) -> DataSettings:
    """Record the sha256 of a run's arrays, unless the settings already have it."""
    if settings.arrays is None or settings.sha256 is not None:
        return settings
    return settings.model_copy(update={"sha256": file_sha256(settings.arrays)})


def file_sha256(path: Path) -> str:
    """Compute the sha256 of a file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist") from None
    except OSError as problem:
        raise ValueError(f"{path} cannot be read: {problem.strerror or problem}") from None


def read_arrays(path: Path, names: Collection[str] | None = None) -> dict[str, Tensor]:
    """Read the arrays of a file as finite float32 tensors; nothing in it is executed.

    Args:
        path: an .npz file; a table, .csv or .parquet, with columns `x_0`, `x_1`, …; or an .npy file, as `x`.
        names: of arrays to read, if they are there; all if omitted.

    Returns:
        Tensors (N, ...) by name. A `DatasetError`, which is a `ValueError`, names a file that cannot be read.

    """
    return {name: _tensor(values, f"{name} of {path}") for name, values in read_named(path, names).items()}


def _tensor(values: Array, name: str) -> Tensor:
    if not values.ndim:
        raise DatasetError(f"`{name}` must hold rows, got a single number")
    try:
        with np.errstate(over="raise", invalid="ignore"):
            numbers = torch.from_numpy(np.asarray(values, dtype=np.float32))
    except FloatingPointError:
        raise DatasetError(f"`{name}` must hold numbers that fit float32, got larger ones") from None
    return check_finite(numbers, name)
