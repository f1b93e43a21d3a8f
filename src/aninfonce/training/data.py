"""The data of a configuration: a preset process, or arrays in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from aninfonce.processes import DataGeneratingProcess, PairBatch, process
from aninfonce.training.config import DataSettings


def open_data(settings: DataSettings, folder: Path = Path()) -> DataGeneratingProcess | PairBatch:
    """Build the process or read the arrays.

    Args:
        settings: which.
        folder: where a relative path of arrays starts.

    Returns:
        Something that `fit` takes as pairs.

    """
    if settings.process is not None:
        return process(settings.process, settings.seed, **settings.options)
    assert settings.arrays is not None
    arrays = read_arrays(folder / settings.arrays)
    missing = {"x", "x_pos"} - set(arrays)
    if missing:
        raise ValueError(
            f"{settings.arrays} must hold arrays `x` and `x_pos`, got {', '.join(sorted(arrays)) or 'none'}"
        )
    pairs = PairBatch(arrays["x"], arrays["x_pos"], arrays.get("x_neg"), arrays.get("z"), arrays.get("z_pos"))
    if pairs.x.shape != pairs.x_pos.shape or pairs.x.ndim < 2:
        raise ValueError(
            f"`x` and `x_pos` of {settings.arrays} must have one shape (N, ...), got {tuple(pairs.x.shape)}"
            f" and {tuple(pairs.x_pos.shape)}"
        )
    for name in ("x_neg", "z", "z_pos"):
        values = getattr(pairs, name)
        if values is not None and len(values) != len(pairs):
            raise ValueError(f"`{name}` of {settings.arrays} must have {len(pairs)} rows, got {len(values)}")
    return pairs


def read_arrays(path: Path) -> dict[str, Tensor]:
    """Read an .npz file, or an .npy file as `x`, as float32 tensors; nothing in it is executed.

    Args:
        path: the file.

    Returns:
        Tensors by name.

    """
    try:
        with np.load(path, allow_pickle=False) if path.suffix == ".npz" else _Single(path) as file:
            return {name: torch.from_numpy(np.asarray(file[name], dtype=np.float32)) for name in file.files}
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist") from None
    except (ValueError, EOFError, OSError) as problem:
        raise ValueError(f"{path} cannot be read as numeric arrays: {problem}") from None


class _Single:
    """An .npy file in the shape of an .npz with one array `x`."""

    files = ("x",)

    def __init__(self, path: Path) -> None:
        self._array: npt.NDArray[np.generic] = np.load(path, allow_pickle=False)

    def __enter__(self) -> _Single:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __getitem__(self, name: str) -> npt.NDArray[np.generic]:
        return self._array
