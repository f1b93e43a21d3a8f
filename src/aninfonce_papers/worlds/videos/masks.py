"""Videos of masks with three known factors: KITTI Masks as released, or in a format without pickles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aninfonce.datasets import DatasetError
from aninfonce.extending import (
    NUMBERS,
    as_text,
    describe,
    list_arrays,
    one_line,
    read_npz,
    read_pickle,
    reading,
    whole_file,
)

Masks = npt.NDArray[np.bool_]
Latents = npt.NDArray[np.float32]

SIDE = 64
FACTORS = ("centre of mass, y", "centre of mass, x", "area")
KITTI, GENERATED = "KITTI Masks", "generated videos"
# What the released file calls its two lists.
_RELEASED = ("pedestrians", "pedestrians_latents")
_STORED = ("masks", "latents", "lengths", "source")


@dataclass(frozen=True)
class MaskVideos:
    """Short videos, each of one person's silhouette.

    Example:
        >>> masks = np.zeros((3, 64, 64), dtype=bool)
        >>> masks[:, 30:34, 10:20] = True
        >>> videos = MaskVideos((masks,), (mask_latents(masks),), "my own")
        >>> len(videos), videos.frames, videos.latents[0][0]
        (1, 3, array([31.5, 14.5, 40. ], dtype=float32))

    Attributes:
        masks: one array (T, 64, 64) of booleans per video, T ≥ 2.
        latents: one array (T, 3) per video: centre of mass in y and in x, and area, in pixels.
        source: where they come from, in words.

    """

    masks: Sequence[Masks]
    latents: Sequence[Latents]
    source: str

    def __post_init__(self) -> None:
        if not len(self.masks) or len(self.masks) != len(self.latents):
            raise DatasetError(
                "`masks` and `latents` must hold one array per video, and at least one, got"
                f" {len(self.masks)} and {len(self.latents)}"
            )
        for number, (masks, latents) in enumerate(zip(self.masks, self.latents, strict=True)):
            _check_video(number, masks, latents)

    def __len__(self) -> int:
        return len(self.masks)

    @property
    def frames(self) -> int:
        """Number of frames of all videos together."""
        return sum(map(len, self.masks))


def mask_latents(masks: Masks) -> Latents:
    """Compute the three factors of masks (T, H, W), none of them empty, as the authors did.

    Gives (T, 3): centre of mass in y and in x, and area.

    >>> masks = np.zeros((1, 64, 64), dtype=bool)
    >>> masks[0, 10, 20:22] = True
    >>> mask_latents(masks)
    array([[10. , 20.5,  2. ]], dtype=float32)
    """
    rows, columns = masks.sum(axis=2), masks.sum(axis=1)
    area = rows.sum(axis=1)
    if not area.all():
        raise ValueError(f"`masks` must not be empty, got {int((area == 0).sum())} empty of {len(masks)}")
    y = (rows @ np.arange(masks.shape[1])) / area
    x = (columns @ np.arange(masks.shape[2])) / area
    return np.stack([y, x, area], axis=1).astype(np.float32)


def load_videos(path: str | Path) -> MaskVideos:
    """Read `kitti_peds_v2.pickle` as released, executing nothing in it, or a file of `save_videos`.

    Example:
        >>> load_videos("no-such-file")
        Traceback (most recent call last):
        aninfonce.datasets.images.DatasetError: no-such-file must be a file, got nothing there

    Args:
        path: of either file.

    Returns:
        The videos. A `DatasetError`, which is a `ValueError`, says what is wrong with a file.

    """
    path = Path(path)
    if not path.is_file():
        raise DatasetError(f"{path} must be a file, got {'a folder' if path.is_dir() else 'nothing there'}")
    with path.open("rb") as file:
        is_zip = file.read(4) == b"PK\x03\x04"
    masks, latents, source = _read_npz(path) if is_zip else _read_released(path)
    try:
        return MaskVideos(masks, latents, source)
    except DatasetError as problem:
        raise DatasetError(f"{path}: {problem}") from None


def save_videos(videos: MaskVideos, path: str | Path) -> Path:
    """Write videos as compressed arrays, whole or not at all, to a file that ends in .npz."""
    path = Path(path)
    if path.suffix != ".npz":
        raise ValueError(f"`path` must end in .npz, got {path}")
    with whole_file(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file,
            masks=np.concatenate(videos.masks),
            latents=np.concatenate(videos.latents),
            lengths=np.array([len(masks) for masks in videos.masks]),
            source=np.array(videos.source),
        )
    return path


def _read_released(path: Path) -> tuple[list[Any], list[Any], str]:
    content = read_pickle(path, "file of KITTI Masks", ("b1", "f4"))
    content = {as_text(key): value for key, value in content.items()} if isinstance(content, dict) else {}
    if not all(isinstance(content.get(name), list) for name in _RELEASED):
        raise DatasetError(
            f"{path} must hold the lists {' and '.join(map(repr, _RELEASED))}, got"
            f" {one_line(str(sorted(map(str, content)))) if content else 'neither'}"
        )
    masks, latents = (content[name] for name in _RELEASED)
    return masks, latents, KITTI


def _read_npz(path: Path) -> tuple[list[Any], list[Any], str]:
    stored = read_npz(path, _STORED, kinds=NUMBERS + "U")
    if set(stored) != set(_STORED):
        raise DatasetError(f"{path} must hold {', '.join(_STORED)}, got {list_arrays(path)}")
    masks, latents, lengths, source = (stored[name] for name in _STORED)
    if {masks.ndim, latents.ndim} & {0} or source.dtype.kind != "U" or source.ndim:
        raise DatasetError(f"{path} is damaged: masks and latents must be rows, and `source` one text")
    whole = lengths.ndim == 1 and np.issubdtype(lengths.dtype, np.integer) and bool((lengths > 0).all())
    if not whole or {int(lengths.sum())} != {len(masks), len(latents)}:
        raise DatasetError(
            f"{path} is damaged: `lengths` must sum to the number of frames and of latents, got"
            f" {describe(lengths)} for {describe(masks)} and {describe(latents)}"
        )
    ends = np.cumsum(lengths)[:-1]
    with reading(path, "a file of videos"):
        return np.split(masks, ends), np.split(latents, ends), one_line(str(source))


def _check_video(number: int, masks: Any, latents: Any) -> None:
    for name, array, shape, kind in (
        ("masks", masks, (SIDE, SIDE), np.bool_),
        ("latents", latents, (len(FACTORS),), np.float32),
    ):
        fits = isinstance(array, np.ndarray) and array.dtype == kind and array.shape[1:] == shape
        if not fits or len(array) < 2 or len(array) != len(masks):
            is_array = isinstance(array, np.ndarray)
            got = f"{array.dtype} {describe(array)}" if is_array else type(array).__name__
            raise DatasetError(
                f"`{name}` of video {number} must be {kind.__name__} of shape"
                f" (T, {', '.join(map(str, shape))}) with T ≥ 2 frames, as many as masks, got {got}"
            )
    if not np.isfinite(latents).all():
        raise DatasetError(f"`latents` of video {number} must be finite, got NaN or infinity")
