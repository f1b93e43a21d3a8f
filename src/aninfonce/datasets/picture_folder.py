"""Folders of pictures, one per class, as ImageNet is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from aninfonce._validation import check_count
from aninfonce.datasets.images import DatasetError, LabelledImages, Pixels
from aninfonce.datasets.pillow import pillow, read_picture

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".ppm", ".tif", ".tiff")


class FolderImages:
    """Pictures that are decoded when their rows are used, so that a million of them need no memory.

    Each is scaled until its shorter side fits, then cut to the square in its middle. Several rows are decoded
    by threads, one for each core, since Pillow lets them run side by side.

    Args:
        files: paths of the pictures.
        size: side of the square.

    """

    dtype = np.dtype(np.uint8)

    def __init__(self, files: Sequence[str], size: int) -> None:
        self.files = tuple(files)
        self.size = check_count(size, "size")

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, 3, size, size)."""
        return len(self.files), 3, self.size, self.size

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, rows: Any) -> Pixels:
        """Decode one picture (3, size, size) or several (n, 3, size, size)."""
        chosen = np.arange(len(self))[np.asarray(rows) if not isinstance(rows, slice) else rows]
        if chosen.ndim == 0:
            return self._open(self.files[int(chosen)])
        images = np.empty((len(chosen), *self.shape[1:]), dtype=np.uint8)
        with ThreadPoolExecutor(min(len(chosen), os.cpu_count() or 1) or 1) as pool:
            opened = pool.map(self._open, (self.files[row] for row in chosen.tolist()))
            for place, picture in enumerate(opened):
                images[place] = picture
        return images

    def _open(self, path: str) -> Pixels:
        whole, image = read_picture(path, self.size), pillow()
        scale = self.size / min(whole.size)
        width, height = (max(self.size, round(side * scale)) for side in whole.size)
        # A line of pixels, scaled until its shorter side fits, would fill any memory.
        if image.MAX_IMAGE_PIXELS is not None and width * height > image.MAX_IMAGE_PIXELS:
            raise DatasetError(f"{path} must not be so long and thin, got {whole.width} × {whole.height}")
        left, top = (width - self.size) // 2, (height - self.size) // 2
        whole = whole.resize((width, height), image.Resampling.BILINEAR)
        square = whole.crop((left, top, left + self.size, top + self.size))
        return np.asarray(square).transpose(2, 0, 1)


def read_folder(path: str | Path, size: int = 224) -> LabelledImages:
    """List the pictures of a folder with one folder per class; they are opened when they are used.

    Args:
        path: the folder, such as imagenet/train.
        size: side of the square that each picture is scaled and cut to.

    Returns:
        Images (N, 3, size, size), labels and names of the classes in alphabetical order.

    """
    path = Path(path)
    listed = {folder.name: sorted(_pictures(folder)) for folder in _folders(path)}
    found = {name: pictures for name, pictures in listed.items() if pictures}
    if not found:
        raise DatasetError(f"{path} must hold folders of pictures ({', '.join(SUFFIXES)}), one per class")
    files = [file for pictures in found.values() for file in pictures]
    labels = np.repeat(np.arange(len(found)), [len(pictures) for pictures in found.values()])
    return LabelledImages(FolderImages(files, size), labels.astype(np.int64), tuple(found))


def has_classes(path: Path) -> bool:
    """Tell whether any folder in `path` holds a picture, without listing them all."""
    return any(True for folder in _folders(path) for _ in _pictures(folder))


def _folders(path: Path) -> list[Path]:
    return sorted(entry for entry in path.iterdir() if entry.is_dir()) if path.is_dir() else []


def _pictures(folder: Path) -> Iterator[str]:
    # Names as text rather than paths: of a million, these take a third of the memory.
    for place, _, names in os.walk(folder):
        yield from (os.path.join(place, name) for name in names if name.lower().endswith(SUFFIXES))
