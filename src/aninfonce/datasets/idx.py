"""The idx format of MNIST: a header of sizes, then bytes; plain or packed with gzip."""

from __future__ import annotations

import gzip
from math import prod
from pathlib import Path
from typing import BinaryIO

import numpy as np

from aninfonce.datasets.images import DatasetError, LabelledImages, Pixels
from aninfonce.datasets.reading import check_size, check_unpacked, reading

_UINT8 = 0x08
_GZIP = b"\x1f\x8b"


def read_idx(path: str | Path) -> Pixels:
    r"""Read one idx file of bytes; a plain one stays on disk and is read where it is used.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder) / "labels-idx1-ubyte"
        ...     _ = file.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3]) + b"\x05\x00\x04")
        ...     read_idx(file).tolist()
        [5, 0, 4]

    Args:
        path: the file.

    Returns:
        uint8, of the shape in the header; read-only.

    """
    path = Path(path)
    with reading(path, "an idx file"):
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
        if packed:
            with gzip.open(path) as stream:
                shape = _header(stream, path)
                check_unpacked(path, prod(shape))
                # One more than announced shows a file that goes on, however long.
                content = stream.read(prod(shape) + 1)
            check_size(str(path), prod(shape), shape, len(content))
            return np.frombuffer(content, dtype=np.uint8).reshape(shape)
        with path.open("rb") as file:
            shape = _header(file, path)
            start = file.tell()
        check_size(str(path), prod(shape), shape, path.stat().st_size - start)
        if prod(shape) == 0:
            return np.empty(shape, dtype=np.uint8)
        return np.memmap(path, dtype=np.uint8, mode="r", offset=start, shape=shape)


def read_idx_pair(images: Path, labels: Path) -> LabelledImages:
    """Read a file of images (N, H, W) and its file of labels (N,)."""
    pixels, numbers = read_idx(images), read_idx(labels)
    if pixels.ndim != 3 or numbers.shape != pixels.shape[:1]:
        raise DatasetError(
            f"{images} and {labels.name} must hold (N, H, W) and (N,), got {pixels.shape} and {numbers.shape}"
        )
    return LabelledImages(pixels[:, None], numbers.astype(np.int64))


def _header(file: BinaryIO | gzip.GzipFile, path: Path) -> tuple[int, ...]:
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0":
        raise DatasetError(f"{path} is no idx file: it starts with {magic.hex() or 'nothing'}")
    if magic[2] != _UINT8:
        raise DatasetError(f"{path} must hold unsigned bytes (type 08), got type {magic[2]:02x}")
    sizes = file.read(4 * magic[3])
    if len(sizes) < 4 * magic[3]:
        raise DatasetError(f"{path} is cut short: its header is incomplete")
    return tuple(int(size) for size in np.frombuffer(sizes, dtype=">u4"))
