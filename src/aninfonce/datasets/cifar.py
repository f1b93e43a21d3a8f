"""CIFAR-10 as its authors give it: pickled batches, read without executing anything, or binary records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from aninfonce.datasets.images import DatasetError, LabelledImages, Labels, Pixels
from aninfonce.datasets.pickles import as_text, read_pickle
from aninfonce.datasets.reading import reading

_SHAPE = (3, 32, 32)
_BYTES = 3072

BatchReader = Callable[[Path], tuple[Pixels, Labels]]


def read_batches(paths: Sequence[Path], read: BatchReader) -> LabelledImages:
    """Read several files of images of one shape as one set.

    Args:
        paths: the files, in order.
        read: gives pixels (n, C, H, W) and labels (n,) of one file.

    Returns:
        All images.

    """
    missing = [path.name for path in paths if not path.exists()]
    if missing:
        raise DatasetError(f"{paths[0].parent} must hold {', '.join(missing)}")
    parts = [read(path) for path in paths]
    images = parts[0][0] if len(parts) == 1 else np.concatenate([pixels for pixels, _ in parts])
    return LabelledImages(images, np.concatenate([labels for _, labels in parts]))


def read_binary_batch(path: Path) -> tuple[Pixels, Labels]:
    """Read a file of records: one byte of label, 3072 of pixels.

    Args:
        path: such as data_batch_1.bin.

    Returns:
        Pixels (n, 3, 32, 32), on disk until they are used, and labels (n,).

    """
    size = path.stat().st_size
    if size == 0 or size % (_BYTES + 1):
        raise DatasetError(
            f"{path} is cut short or damaged: its size must be a multiple of {_BYTES + 1}, got {size}"
        )
    records = np.memmap(path, dtype=np.uint8, mode="r", shape=(size // (_BYTES + 1), _BYTES + 1))
    return records[:, 1:].reshape(-1, *_SHAPE), _checked(records[:, 0].astype(np.int64), path)


def read_pickled_batch(path: Path) -> tuple[Pixels, Labels]:
    """Read a pickled batch with a reader that knows arrays of bytes and calls nothing else.

    Args:
        path: such as data_batch_1.

    Returns:
        Pixels (n, 3, 32, 32) and labels (n,).

    """
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


def _checked(labels: Labels, path: Path) -> Labels:
    if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) <= 9:
        raise DatasetError(
            f"{path} is damaged: labels must lie from 0 to 9, got {labels.min()} to {labels.max()}"
        )
    return labels
