"""CIFAR-10 as PNG sheets: one image per row, all its pixels side by side, labels in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from aninfonce.datasets.images import DatasetError, LabelledImages, Labels, Pixels
from aninfonce.datasets.pillow import read_picture
from aninfonce.datasets.reading import reading

_SIDE = 32


def read_sheets(sheets: list[Path], labels: Path) -> LabelledImages:
    """Read sheets and the labels of all of them.

    Args:
        sheets: PNG files of n rows of 1024 pixels.
        labels: JSON list of N whole numbers.

    Returns:
        Images (N, 3, 32, 32).

    """
    numbers = _labels(labels)
    images = np.empty((len(numbers), 3, _SIDE, _SIDE), dtype=np.uint8)
    start = 0
    for path in sheets:
        # One sheet at a time, straight to its place: a sheet is 30 MB.
        pixels = read_sheet(path)
        if start + len(pixels) > len(images):
            break
        images[start : start + len(pixels)] = pixels
        start += len(pixels)
    else:
        if start == len(images):
            return LabelledImages(images, numbers)
    raise DatasetError(
        f"{labels} must hold one label per image, got {len(numbers)} for {len(sheets)} sheet(s) of other size"
    )


def read_sheet(path: Path) -> Pixels:
    """Read one PNG sheet as (n, 3, 32, 32)."""
    pixels = np.asarray(read_picture(path))
    if pixels.shape[1] != _SIDE**2:
        raise DatasetError(f"{path} must have {_SIDE**2} pixels per row, got {pixels.shape[1]}")
    return pixels.reshape(-1, _SIDE, _SIDE, 3).transpose(0, 3, 1, 2)


def _labels(path: Path) -> Labels:
    with reading(path, "a JSON list of labels"):
        numbers = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
            raise DatasetError(f"{path} must hold a list of whole numbers")
        return np.array(numbers, dtype=np.int64)
