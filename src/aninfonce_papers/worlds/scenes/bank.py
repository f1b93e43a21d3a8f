"""Scenes drawn once and kept: whoever asks for the same latents again gets the same file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from filelock import FileLock

from aninfonce.datasets import DatasetError, cache_dir
from aninfonce.extending import Pixels, put, read_npy, write_whole
from aninfonce_papers.worlds.scenes.layout import check_latents
from aninfonce_papers.worlds.scenes.renderer import SceneRenderer
from aninfonce_papers.worlds.scenes.shapes import Floats, Integers

# Raise this whenever scenes come to look different: older files are then ignored.
VERSION = 1
Report = Callable[[int, int], None]
"""Called with the number of pictures drawn, and of all there are."""

_CHUNK = 512


def drawn(
    latents: npt.ArrayLike,
    size: int,
    *,
    classes: npt.ArrayLike | None = None,
    shapes: Sequence[str] = ("teapot",),
    folder: str | Path | None = None,
    report: Report | None = None,
) -> Pixels:
    """Draw scenes into a file of the cache, or open the one that holds them already.

    Several processes may ask at once: one draws, the others wait. Drawing that was stopped goes on from where
    it was.

    Args:
        latents: (n, 10) in [−1, 1].
        size: side of the pictures.
        classes: (n,), which of the shapes each shows.
        shapes: the objects of each class.
        folder: of the cache, as `cache_dir` has it.
        report: called as pictures are drawn.

    Returns:
        uint8 (n, 3, size, size), on disk.

    """
    z = check_latents(latents)
    which = np.zeros(len(z), dtype=np.int64) if classes is None else np.asarray(classes, dtype=np.int64)
    place = cache_dir(folder) / "scenes"
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{size}px-{_key(z, which, shapes)}.npy"
    if not path.exists():
        with FileLock(path.with_suffix(".lock")):
            if not path.exists():
                _draw(path, z, which, size, shapes, report or (lambda done, total: None))
    pixels: Pixels = read_npy(path, mapped=True)
    if pixels.shape != (len(z), 3, size, size) or pixels.dtype != np.uint8:
        raise DatasetError(f"{path} is damaged: remove it, and it is drawn again")
    return pixels


class DrawnImages:
    """Pictures that are drawn when rows are asked for, so that a quarter of a million need no disk.

    Args:
        latents: (n, 10) in [−1, 1].
        size: side of the pictures.
        classes: (n,), which of the shapes each shows.
        shapes: the objects of each class.

    """

    def __init__(
        self,
        latents: npt.ArrayLike,
        size: int,
        *,
        classes: npt.ArrayLike | None = None,
        shapes: Sequence[str] = ("teapot",),
    ) -> None:
        self.latents = check_latents(latents)
        self.classes = None if classes is None else np.asarray(classes, dtype=np.int64)
        self.renderer = SceneRenderer(size, shapes)

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, 3, size, size)."""
        return len(self.latents), 3, self.renderer.size, self.renderer.size

    def __len__(self) -> int:
        return len(self.latents)

    def __getitem__(self, rows: Any) -> Pixels:
        """Draw some of the pictures."""
        return self.renderer.render(self.latents[rows], None if self.classes is None else self.classes[rows])


def _key(latents: Floats, classes: Integers, shapes: Sequence[str]) -> str:
    digest = hashlib.sha256(json.dumps([VERSION, len(latents), list(shapes)]).encode())
    digest.update(np.ascontiguousarray(latents, dtype="<f8").data)
    digest.update(np.ascontiguousarray(classes, dtype="<i8").data)
    return digest.hexdigest()[:16]


def _draw(
    path: Path, latents: Floats, classes: Integers, size: int, shapes: Sequence[str], report: Report
) -> None:
    """Fill a file in chunks; a second file beside it says how many pictures are done."""
    partial, count = path.with_suffix(".partial"), path.with_suffix(".count")
    done = _count(count) if partial.exists() else 0
    mode = "r+" if done else "w+"
    shape = (len(latents), 3, size, size)
    pixels = np.lib.format.open_memmap(partial, mode, dtype=np.uint8, shape=None if done else shape)
    with SceneRenderer(size, shapes) as renderer:
        for start in range(done, len(latents), _CHUNK):
            rows = slice(start, start + _CHUNK)
            pixels[rows] = renderer.render(latents[rows], classes[rows])
            pixels.flush()
            write_whole(count, str(min(start + _CHUNK, len(latents))))
            report(min(start + _CHUNK, len(latents)), len(latents))
    del pixels
    put(partial, path)
    count.unlink()


def _count(path: Path) -> int:
    """Read how many pictures are done; 0 from the empty file that a crash leaves."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0
