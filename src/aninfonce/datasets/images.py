"""Images with labels: what every reader returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from aninfonce._seeds import derive_seed
from aninfonce._validation import check_count

Pixels = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int64]


class DatasetError(ValueError):
    """A file of a data set cannot be used; the message says why."""


class MissingSplit(DatasetError):
    """A folder of images does not have the split that was asked for."""


class ImageRows(Protocol):
    """Images indexed by row: an array in memory, one on disk, or files that are opened when they are used."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, C, H, W)."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Any, /) -> Any:
        """Give some of the images as uint8 (n, C, H, W)."""


@dataclass(frozen=True)
class LabelledImages:
    """Images and their classes.

    Example:
        >>> pixels = np.zeros((4, 1, 28, 28), dtype=np.uint8)
        >>> small = LabelledImages(pixels, np.array([0, 1, 1, 0]), ("zero", "one")).take(2)
        >>> len(small), small.shape
        (2, (1, 28, 28))

    Attributes:
        images: uint8 (N, C, H, W), perhaps still on disk.
        labels: (N,), whole numbers from 0.
        classes: what the labels mean, if known.

    """

    images: ImageRows
    labels: Labels
    classes: Sequence[str] = field(default=())

    def __post_init__(self) -> None:
        if len(self.images.shape) != 4 or self.labels.shape != (len(self.images),):
            raise DatasetError(
                "`images` must have shape (N, C, H, W) and `labels` (N,), got"
                f" {tuple(self.images.shape)} and {self.labels.shape}"
            )

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one image: (C, H, W)."""
        return tuple(self.images.shape[1:])

    def take(self, n: int, seed: int | None = None) -> LabelledImages:
        """Read `n` images into memory.

        Args:
            n: how many; all, if there are fewer.
            seed: draws them at random; the first `n` if omitted.

        Returns:
            The images, in their original order.

        """
        n = min(check_count(n, "n"), len(self))
        if seed is None:
            rows = np.arange(n)
        else:
            rows = np.sort(np.random.default_rng(derive_seed(seed, "images")).permutation(len(self))[:n])
        return LabelledImages(np.asarray(self.images[rows]), self.labels[rows], self.classes)
