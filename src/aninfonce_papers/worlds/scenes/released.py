"""3DIdent and Causal3DIdent as their authors released them: where the files are, and what is in them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aninfonce.datasets import DatasetError
from aninfonce.extending import FolderImages, ImageRows, Labels, check_choice, read_npy
from aninfonce_papers.worlds.scenes.layout import LATENTS

KINDS = ("threedident", "causal3dident")
CLASSES = 7
ABOUT = "about.json"
"""Stands beside scenes that were drawn here, and in no folder that the authors released."""

_FOLDERS = {
    "threedident": {"train": "train", "test": "test"},
    "causal3dident": {"train": "trainset", "test": "testset"},
}
# Mean and standard deviation of the released training images, by channel.
NORMALIZATION = {
    "threedident": ((0.3292, 0.3278, 0.3215), (0.0778, 0.0776, 0.0771)),
    "causal3dident": ((0.4327, 0.2689, 0.2839), (0.1201, 0.1457, 0.1082)),
}


@dataclass(frozen=True)
class Part:
    """The files of one class of a split, or of the whole split where there are no classes."""

    latents: Path
    images: Path

    def picture(self, row: int, count: int) -> Path:
        """Name the file of one picture among `count`, with as many digits as the largest number needs."""
        return self.images / f"{str(row).zfill(math.ceil(math.log10(count)))}.png"


@dataclass(frozen=True)
class SceneImages:
    """Pictures and the latents behind them.

    Attributes:
        kind: "threedident" or "causal3dident".
        images: uint8 (N, 3, size, size), opened when rows are asked for.
        latents: (N, 10) in [−1, 1], on disk until they are used.
        classes: (N,) which object each shows; all 0 for 3DIdent.

    """

    kind: str
    images: ImageRows
    latents: npt.NDArray[np.float64]
    classes: Labels

    def __len__(self) -> int:
        return len(self.latents)


def parts(kind: str, folder: Path, split: str) -> list[Part]:
    """Say where the files of a split belong, class by class."""
    place = (
        folder / _FOLDERS[check_choice(kind, "kind", KINDS)][check_choice(split, "split", ("train", "test"))]
    )
    if kind == "threedident":
        return [Part(place / "raw_latents.npy", place / "images")]
    return [Part(place / f"raw_latents_{c}.npy", place / f"images_{c}") for c in range(CLASSES)]


def read_scenes(path: str | Path, split: str = "train", *, size: int = 224) -> SceneImages:
    """Open a folder in the released layout of 3DIdent or of Causal3DIdent.

    Args:
        path: the folder that holds train/ and test/, or trainset/ and testset/.
        split: "train" or "test".
        size: side that pictures are scaled to when they are opened.

    Returns:
        The pictures, with their latents and classes.

    """
    folder = Path(path)
    for kind in KINDS:
        found = parts(kind, folder, split)
        if found[0].latents.exists():
            return _open(kind, found, size)
    wanted = " or ".join(str(parts(kind, folder, split)[0].latents) for kind in KINDS)
    raise DatasetError(f"`path` must be a folder of 3DIdent or Causal3DIdent, with {wanted}; got {folder}")


def is_released(path: str | Path) -> bool:
    """Tell whether a folder holds the authors' files, rather than some that were drawn here or none."""
    folder = Path(path)
    found = any(parts(kind, folder, "train")[0].latents.exists() for kind in KINDS)
    return found and not (folder / ABOUT).exists()


def _open(kind: str, found: list[Part], size: int) -> SceneImages:
    latents = [_latents(part.latents) for part in found]
    files = [file for part, z in zip(found, latents, strict=True) for file in _files(part, len(z))]
    classes = np.repeat(np.arange(len(found)), [len(z) for z in latents])
    together = latents[0] if len(latents) == 1 else np.concatenate(latents)
    return SceneImages(kind, FolderImages(files, size), together, classes.astype(np.int64))


def _latents(path: Path) -> npt.NDArray[np.float64]:
    latents: npt.NDArray[np.float64] = read_npy(path, mapped=True)
    if latents.ndim != 2 or latents.shape[1] != len(LATENTS) or not len(latents):
        raise DatasetError(f"{path} must hold latents (N, {len(LATENTS)}), got shape {latents.shape}")
    if not np.isfinite(latents).all():
        raise DatasetError(f"{path} must hold finite latents, got NaN or infinity")
    return latents


def _files(part: Part, count: int) -> Iterator[str]:
    # Copies of the class-wise files are also in use whose names have no leading zeros.
    padded = part.picture(0, count).exists()
    names = [part.picture(row, count) if padded else part.images / f"{row}.png" for row in (0, count - 1)]
    for file in names:
        if not file.exists():
            raise DatasetError(
                f"{part.images} must hold {count} pictures, one per row of latents; {file} is missing"
            )
    width = len(names[0].stem) if padded else 0
    return (f"{part.images}/{str(row).zfill(width)}.png" for row in range(count))
