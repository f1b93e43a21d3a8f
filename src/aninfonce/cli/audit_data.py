"""What `aninfonce audit` looks at: arrays in files, or images with the papers' augmentations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aninfonce._validation import did_you_mean
from aninfonce.datasets import dataset_names

if TYPE_CHECKING:
    from torch import Tensor

_NAMES = ("x", "x_pos", "z", "labels")


@dataclass(frozen=True)
class AuditData:
    """Arguments of `diagnostics.audit` but for the encoder.

    Attributes:
        data: pairs (x, x_pos), or x alone.
        augmentations: by name, if the data bring some.
        latents: causes of x, if known.
        labels: classes of x, if known.
        images: whether rows are images (C, H, W) from 0 to 1.

    """

    data: Any
    augmentations: dict[str, Callable[[Any], Any]] | None = None
    latents: Any = None
    labels: Any = None
    images: bool = False


def open_audit_data(text: str, pairs: int, seed: int, size: int) -> AuditData:
    """Read what --data names; a path comes first, since a folder may have the name of a data set.

    The seed draws images, `pairs` at most, and their views; pictures are cut to squares of `size` pixels.
    """
    path = Path(text)
    if path.is_dir() and not any((path / f"{name}.npy").exists() for name in _NAMES):
        if any(path.iterdir()):
            return _images(text, pairs, seed, size)
    elif not path.exists() and text in dataset_names():
        return _images(text, pairs, seed, size)
    arrays = _arrays(text)
    x = arrays["x"]
    pair = (x, arrays["x_pos"]) if "x_pos" in arrays else x
    return AuditData(pair, None, arrays.get("z"), arrays.get("labels"))


def _images(text: str, pairs: int, seed: int, size: int) -> AuditData:
    """Take plain images as anchors, views of them as positives, and each augmentation alone for readouts."""
    from aninfonce._seeds import derive_seed
    from aninfonce.augment import readouts, seeded, simclr
    from aninfonce.augment.base import as_pixels
    from aninfonce.datasets import load_images, read_images
    from aninfonce.datasets.images import MissingSplit

    open_images = read_images if Path(text).exists() else load_images
    try:
        # Images that an encoder has not seen, where there are such.
        found = open_images(text, "test", size=size)
    except MissingSplit:
        found = open_images(text, "train", size=size)
    taken = found.take(pairs, seed)
    x = as_pixels(taken.images)
    channels = taken.shape[0]
    x_pos = simclr("mnist" if channels == 1 else "cifar10")(x, seed).images
    alone = {name: seeded(change, derive_seed(seed, name)) for name, change in readouts(channels).items()}
    labels = taken.labels if len(set(taken.labels.tolist())) > 1 else None
    return AuditData((x, x_pos), alone, labels=labels, images=True)


def _arrays(text: str) -> dict[str, Tensor]:
    """Read arrays by the names that the audit knows."""
    path = Path(text)
    if not path.exists():
        raise ValueError(
            "--data must be an .npz, .csv or .parquet file, a folder of .npy files or of images, or a data"
            f" set of `aninfonce data list`, got {text!r}{did_you_mean(text, dataset_names())}"
        )

    from aninfonce.datasets.arrays import list_arrays
    from aninfonce.training.open_data import read_arrays

    if path.is_dir():
        found = {name: path / f"{name}.npy" for name in _NAMES}
        arrays = {name: read_arrays(file)["x"] for name, file in found.items() if file.exists()}
        there = ", ".join(arrays) or "none"
    else:
        arrays = read_arrays(path, _NAMES)
        there = list_arrays(path)
    if "x" not in arrays:
        raise ValueError(f"{text} must hold an array `x`, got {there}")
    if arrays["x"].ndim < 2:
        raise ValueError(f"`x` of {text} must have shape (N, ...), got {tuple(arrays['x'].shape)}")
    return arrays
