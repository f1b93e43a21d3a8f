"""CIFAR-10 as its authors give it: pickled batches, read without executing anything, or binary records."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aninfonce.datasets.images import DatasetError, LabelledImages, Labels, Pixels

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
    try:
        with path.open("rb") as file:
            content = _ArrayUnpickler(file, encoding="bytes").load()
        batch = {_text(key): value for key, value in content.items()}
        pixels, labels = batch["data"].array(), np.array(batch["labels"], dtype=np.int64)
        pixels = pixels.reshape(-1, *_SHAPE)
    except DatasetError as problem:
        raise DatasetError(f"{path} {problem}") from None
    # A damaged pickle can fail in as many ways as there are opcodes.
    except Exception as problem:
        raise DatasetError(f"{path} is no batch of CIFAR-10, cut short or damaged: {problem!r}") from None
    if labels.shape != pixels.shape[:1]:
        raise DatasetError(f"{path} must hold one label an image, got {len(labels)} for {len(pixels)}")
    return pixels, _checked(labels, path)


def _checked(labels: Labels, path: Path) -> Labels:
    if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) <= 9:
        raise DatasetError(f"{path} is damaged: labels must lie from 0 to 9, got {labels.max()}")
    return labels


def _text(value: str | bytes) -> str:
    return value.decode("latin1") if isinstance(value, bytes) else value


class _Kind:
    """Stands in for numpy's dtype; only unsigned bytes pass."""

    def __init__(self, name: str | bytes, *_: Any) -> None:
        if _text(name) != "u1":
            raise DatasetError(f"must hold unsigned bytes, got an array of {_text(name)!r}")

    def __setstate__(self, state: Any) -> None:
        """Byte order and the like mean nothing for bytes."""


class _Array:
    """Stands in for numpy's array while it is unpickled."""

    def __init__(self, *_: Any) -> None:
        self._state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._state = state

    def array(self) -> Pixels:
        """Make the array (n, 3072)."""
        _, shape, _, fortran, content = self._state
        return np.frombuffer(content, dtype=np.uint8).reshape(shape, order="F" if fortran else "C")


def _encode(text: str, encoding: str | bytes) -> bytes:
    if _text(encoding) != "latin1":
        raise DatasetError(f"must encode bytes as latin1, got {encoding!r}")
    return text.encode("latin1")


class _ArrayUnpickler(pickle.Unpickler):
    """Knows the few names that pickled arrays use, each as a harmless stand-in."""

    _KNOWN: dict[tuple[str, str], Any] = {  # noqa: RUF012  (never changed)
        ("numpy.core.multiarray", "_reconstruct"): _Array,
        ("numpy._core.multiarray", "_reconstruct"): _Array,
        ("numpy", "ndarray"): _Array,
        ("numpy", "dtype"): _Kind,
        ("_codecs", "encode"): _encode,
    }

    def find_class(self, module: str, name: str) -> Any:
        """Refuse whatever is not known."""
        if (module, name) not in self._KNOWN:
            raise DatasetError(
                f"was not opened: it asks to call {module}.{name}, which no batch of images needs"
            )
        return self._KNOWN[module, name]
