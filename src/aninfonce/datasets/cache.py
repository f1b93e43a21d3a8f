"""Where fetched data sets are kept: arrays that are read from disk as they are used."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np

from aninfonce._validation import check_choice
from aninfonce.datasets.catalog import DATASETS, DatasetInfo, dataset_names
from aninfonce.datasets.images import DatasetError, ImageRows, LabelledImages
from aninfonce.datasets.local import SPLITS, read_images

_ABOUT = "about.json"
_ROWS = 4096


def cache_dir(folder: str | Path | None = None) -> Path:
    """Say where data sets are kept.

    Args:
        folder: a place of the user's choice. If omitted, the environment variable ANINFONCE_DATA decides, and
            without it the platform's folder for caches.

    Returns:
        The folder, which need not exist yet.

    """
    chosen = folder or os.environ.get("ANINFONCE_DATA")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("aninfonce")


def load_images(
    source: str | Path,
    split: str = "train",
    *,
    folder: str | Path | None = None,
    size: int = 224,
) -> LabelledImages:
    """Open a fetched data set by name, or a local copy by path.

    Example:
        >>> load_images("mnist", folder="no-such-place")
        Traceback (most recent call last):
        aninfonce.datasets.images.DatasetError: mnist is not in no-such-place: `aninfonce data get mnist` ...

    Args:
        source: a name of `dataset_names()`, or the folder of a copy as `read_images` takes it.
        split: "train" or "test".
        folder: where fetched data sets are, as `cache_dir` has it.
        size: side of the square that pictures of a folder are scaled and cut to.

    Returns:
        Images uint8 (N, C, H, W) and labels (N,). Those of a fetched data set stay on disk; their sums are
        checked at every opening.

    """
    check_choice(split, "split", SPLITS)
    if str(source) not in DATASETS:
        if not Path(source).exists():
            raise DatasetError(
                f"`source` must be one of {', '.join(dataset_names())} or a folder of images, got"
                f" {str(source)!r}"
            )
        return read_images(source, split, size=size)
    info, place = DATASETS[str(source)], cache_dir(folder)
    if not is_fetched(info, place):
        raise DatasetError(
            f"{info.name} is not in {place}: `aninfonce data get {info.name}` fetches it"
            f" ({info.megabytes} MB)"
        )
    return _open(info, place / info.name, split)


def is_fetched(info: DatasetInfo, place: Path) -> bool:
    """Tell whether a data set is kept in a cache directory, where it is put in one step."""
    return (place / info.name / _ABOUT).exists()


def store(info: DatasetInfo, place: Path, parts: dict[str, LabelledImages], origin: str) -> Path:
    """Put a data set into the cache, whole or not at all, once it is what it should be.

    Args:
        info: of the data set.
        place: the cache directory.
        parts: images of each split.
        origin: where they came from, for the record.

    Returns:
        The folder of the data set.

    """
    for split, part in parts.items():
        check_part(info, split, part)
    place.mkdir(parents=True, exist_ok=True)
    temporary = place / f".{info.name}.{os.getpid()}"
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir()
        for split, part in parts.items():
            np.save(temporary / f"{split}-images.npy", np.asarray(part.images), allow_pickle=False)
            np.save(temporary / f"{split}-labels.npy", part.labels, allow_pickle=False)
        about = {"format": 1, "name": info.name, "origin": origin, "counts": info.counts}
        (temporary / _ABOUT).write_text(json.dumps(about, indent=1), encoding="utf-8")
        shutil.rmtree(place / info.name, ignore_errors=True)
        os.replace(temporary, place / info.name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return place / info.name


def check_part(info: DatasetInfo, split: str, part: LabelledImages) -> LabelledImages:
    """Require the number, shape and sums of a split that the catalogue names."""
    expected = (info.counts[split], *info.shape)
    if tuple(part.images.shape) != expected:
        raise DatasetError(
            f"{info.name} must have {split} images of shape {expected}, got {tuple(part.images.shape)}"
        )
    found = (_digest(part.images), hashlib.sha256(part.labels.astype("<i8").tobytes()).hexdigest())
    for what, digest, wanted in zip(("images", "labels"), found, info.digests[split], strict=True):
        if digest != wanted:
            raise DatasetError(
                f"the {split} {what} of {info.name} are damaged: their sha256 must be {wanted}, got {digest}"
            )
    return part


def _digest(images: ImageRows) -> str:
    digest = hashlib.sha256()
    for start in range(0, len(images), _ROWS):
        digest.update(np.ascontiguousarray(images[start : start + _ROWS]).data)
    return digest.hexdigest()


def _open(info: DatasetInfo, folder: Path, split: str) -> LabelledImages:
    again = f"`aninfonce data get {info.name} --again` fetches it again"
    try:
        images = np.load(folder / f"{split}-images.npy", mmap_mode="r", allow_pickle=False)
        labels = np.load(folder / f"{split}-labels.npy", allow_pickle=False)
    except (OSError, ValueError, EOFError) as problem:
        raise DatasetError(f"{folder} is damaged: {problem}; {again}") from None
    try:
        return check_part(info, split, LabelledImages(images, labels, info.classes))
    except DatasetError as problem:
        raise DatasetError(f"{problem}; {again}") from None
