"""Copies of data sets that a user already has, in their usual formats."""

from __future__ import annotations

from pathlib import Path

from aninfonce._validation import check_choice
from aninfonce.datasets.cifar import read_batches, read_binary_batch, read_pickled_batch, read_sheets
from aninfonce.datasets.idx import read_idx_pair
from aninfonce.datasets.images import DatasetError, LabelledImages, MissingSplit
from aninfonce.datasets.picture_folder import has_classes, read_folder

SPLITS = ("train", "test")

# Where other libraries put the files inside the folder that one gives them.
_INNER = (
    ".",
    "raw",
    "data",
    "MNIST/raw",
    "FashionMNIST/raw",
    "cifar-10-batches-py",
    "cifar-10-batches-bin",
    "package",
    "package/data",
)
_BATCHES = {"train": tuple(f"data_batch_{i}" for i in range(1, 6)), "test": ("test_batch",)}
_IDX = {"train": "train", "test": "t10k"}
_FOLDERS = {"train": ("train",), "test": ("test", "val")}


def read_images(path: str | Path, split: str = "train", *, size: int = 224) -> LabelledImages:
    """Read a local copy, in whichever of the usual formats it is.

    Example:
        >>> import numpy as np
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     records = np.zeros((20, 3073), dtype=np.uint8)
        ...     records.tofile(Path(folder) / "test_batch.bin")
        ...     read_images(folder, "test").images.shape
        (20, 3, 32, 32)

    Args:
        path: folder of idx files (plain or .gz), of CIFAR-10 batches (python, binary, or PNG sheets with JSON
            labels), or of pictures with one folder per class, perhaps below train/ and test/ or val/.
        split: "train" or "test"; a folder of pictures without such parts is the same for both.
        size: side of the square that pictures of a folder are scaled and cut to.

    """
    check_choice(split, "split", SPLITS)
    path = Path(path)
    if not path.is_dir():
        raise DatasetError(
            f"{path} must be a folder of images, got {'a file' if path.exists() else 'nothing'}"
        )
    for inner in _INNER:
        folder = path / inner
        if folder.is_dir() and (found := _read_format(folder, split)) is not None:
            return found
    for name in _FOLDERS[split]:
        if has_classes(path / name):
            return read_folder(path / name, size)
    if not any((path / name).is_dir() for name in ("train", "test", "val")) and has_classes(path):
        return read_folder(path, size)
    raise MissingSplit(
        f"{path} must hold the {split} part of a data set as idx files, CIFAR-10 batches (python, binary or"
        " PNG sheets) or folders of pictures, got none of these"
    )


def _read_format(folder: Path, split: str) -> LabelledImages | None:
    """Read the format whose first file is there; None if there is none."""
    stem = _IDX[split]
    for dot in ("-", "."):
        images, labels = (
            _plain_or_packed(folder, f"{stem}-{what}{dot}idx{axes}-ubyte")
            for what, axes in (("images", 3), ("labels", 1))
        )
        if images.exists() or labels.exists():
            return read_idx_pair(images, labels)
    names = _BATCHES[split]
    if _any(folder, names, ""):
        return read_batches([folder / name for name in names], read_pickled_batch)
    if _any(folder, names, ".bin"):
        return read_batches([folder / f"{name}.bin" for name in names], read_binary_batch)
    if _any(folder, names, ".png"):
        # "lables" is how the package that ships the sheets spells it.
        labels = next(
            (file for word in ("lables", "labels") if (file := folder / f"{split}_{word}.json").exists()),
            folder / f"{split}_labels.json",
        )
        return read_sheets([folder / f"{name}.png" for name in names], labels)
    return None


def _any(folder: Path, names: tuple[str, ...], suffix: str) -> bool:
    return any((folder / f"{name}{suffix}").is_file() for name in names)


def _plain_or_packed(folder: Path, name: str) -> Path:
    packed = folder / f"{name}.gz"
    return packed if packed.exists() and not (folder / name).exists() else folder / name
