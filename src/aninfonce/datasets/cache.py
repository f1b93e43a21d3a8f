"""Fetched data sets on disk: arrays that are read as they are used."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from aninfonce._files import whole_folder
from aninfonce._validation import check_choice, did_you_mean
from aninfonce.datasets.arrays import read_npy
from aninfonce.datasets.catalog import ABOUT, DATASETS, DatasetInfo, cache_dir, dataset_names, is_fetched
from aninfonce.datasets.images import DatasetError, ImageRows, LabelledImages
from aninfonce.datasets.local import SPLITS, read_images

_ROWS = 4096


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
        folder: where fetched data sets are kept, as in `cache_dir`.
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
                f" {str(source)!r}{did_you_mean(str(source), dataset_names())}"
            )
        return read_images(source, split, size=size)
    info, place = DATASETS[str(source)], cache_dir(folder)
    if not is_fetched(info, place):
        raise DatasetError(
            f"{info.name} is not in {place}: `aninfonce data get {info.name}` fetches it"
            f" ({info.megabytes} MB)"
        )
    return _open(info, place / info.name, split)


def store(info: DatasetInfo, place: Path, parts: dict[str, LabelledImages], origin: str) -> Path:
    """Put the splits of a data set into the cache directory, whole or not at all, if their sums match.

    Gives the folder of the data set, which also records their `origin`.
    """
    for split, part in parts.items():
        check_part(info, split, part)
    with whole_folder(place / info.name) as temporary:
        for split, part in parts.items():
            np.save(temporary / f"{split}-images.npy", np.asarray(part.images), allow_pickle=False)
            np.save(temporary / f"{split}-labels.npy", part.labels, allow_pickle=False)
        about = {"format": 1, "name": info.name, "origin": origin, "counts": info.counts}
        (temporary / ABOUT).write_text(json.dumps(about, indent=1), encoding="utf-8")
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
        images = read_npy(folder / f"{split}-images.npy", mapped=True)
        labels = read_npy(folder / f"{split}-labels.npy")
        return check_part(info, split, LabelledImages(images, labels, info.classes))
    except DatasetError as problem:
        raise DatasetError(f"{folder} is damaged: {problem}; {again}") from None
