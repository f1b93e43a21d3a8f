"""CIFAR-10 in three formats: pickled batches, read without executing anything, binary records, PNG sheets.

A sheet has one image per row, all its pixels side by side; the labels of all sheets are in one JSON file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from aninfonce.datasets.images import DatasetError, LabelledImages, Labels, Pixels
from aninfonce.datasets.pickles import as_text, read_pickle
from aninfonce.datasets.pillow import read_picture
from aninfonce.datasets.reading import reading

_SIDE = 32
_SHAPE = (3, _SIDE, _SIDE)
_BYTES = 3072

BatchReader = Callable[[Path], tuple[Pixels, Labels]]


def read_batches(paths: Sequence[Path], read: BatchReader) -> LabelledImages:
    """Read several files as one set; `read` gives pixels (n, C, H, W) and labels (n,) of one of them."""
    missing = [path.name for path in paths if not path.exists()]
    if missing:
        raise DatasetError(f"{paths[0].parent} must hold {', '.join(missing)}")
    parts = [read(path) for path in paths]
    images = parts[0][0] if len(parts) == 1 else np.concatenate([pixels for pixels, _ in parts])
    return LabelledImages(images, np.concatenate([labels for _, labels in parts]))


def read_binary_batch(path: Path) -> tuple[Pixels, Labels]:
    """Read records of one byte of label and 3072 of pixels; these stay on disk until they are used."""
    size = path.stat().st_size
    if size == 0 or size % (_BYTES + 1):
        raise DatasetError(
            f"{path} is cut short or damaged: its size must be a multiple of {_BYTES + 1}, got {size}"
        )
    records = np.memmap(path, dtype=np.uint8, mode="r", shape=(size // (_BYTES + 1), _BYTES + 1))
    return records[:, 1:].reshape(-1, *_SHAPE), _checked(records[:, 0].astype(np.int64), path)


def read_pickled_batch(path: Path) -> tuple[Pixels, Labels]:
    """Read a pickled batch, by a reader that makes arrays of bytes and calls nothing else."""
    content = read_pickle(path, "batch of CIFAR-10", ("u1",))
    batch = {as_text(key): value for key, value in content.items()} if isinstance(content, dict) else {}
    data, numbers = batch.get("data"), batch.get("labels")
    is_labels = isinstance(numbers, list) and all(type(number) is int for number in numbers)
    if not isinstance(data, np.ndarray) or not is_labels:
        raise DatasetError(f"{path} is no batch of CIFAR-10: it must hold `data` and a list of `labels`")
    with reading(path, "a batch of CIFAR-10"):
        pixels, labels = data.reshape(-1, *_SHAPE), np.array(numbers, dtype=np.int64)
    if labels.shape != pixels.shape[:1]:
        raise DatasetError(f"{path} must hold one label per image, got {labels.shape} for {len(pixels)}")
    return pixels, _checked(labels, path)


def read_sheets(sheets: list[Path], labels: Path) -> LabelledImages:
    """Read sheets, PNG files of n rows of 1024 pixels, and the JSON list of all their labels."""
    numbers = _read_labels(labels)
    images = np.empty((len(numbers), *_SHAPE), dtype=np.uint8)
    start = 0
    for path in sheets:
        # One sheet at a time, straight to its place: a sheet is 30 MB.
        pixels = _read_sheet(path)
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


def _read_sheet(path: Path) -> Pixels:
    pixels = np.asarray(read_picture(path))
    if pixels.shape[1] != _SIDE**2:
        raise DatasetError(f"{path} must have {_SIDE**2} pixels per row, got {pixels.shape[1]}")
    return pixels.reshape(-1, _SIDE, _SIDE, 3).transpose(0, 3, 1, 2)


def _read_labels(path: Path) -> Labels:
    with reading(path, "a JSON list of labels"):
        numbers = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
            raise DatasetError(f"{path} must hold a list of whole numbers")
        return np.array(numbers, dtype=np.int64)


def _checked(labels: Labels, path: Path) -> Labels:
    if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) <= 9:
        raise DatasetError(
            f"{path} is damaged: labels must lie from 0 to 9, got {labels.min()} to {labels.max()}"
        )
    return labels
