"""Small pictures inside result rows, one string each, and grids of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from torch import Tensor

from aninfonce_papers.engine.drawing import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# One hexadecimal digit per pixel: a picture of 28 × 28 takes less than 1 kB of JSON.
_LEVELS = 15
_DIGITS = "0123456789abcdef"


def packed(images: Tensor) -> list[str]:
    """Write grey square images, from 0 to 1, as strings.

    >>> import torch
    >>> packed(torch.tensor([0.0, 1.0, 0.5, 0.0]).view(1, 1, 2, 2))
    ['0f80']

    Args:
        images: (N, 1, S, S) or (N, S·S).

    Returns:
        One string per image, one digit per pixel.

    """
    levels = (images.flatten(1).clamp(0, 1) * _LEVELS).round().int().tolist()
    return ["".join(_DIGITS[level] for level in row) for row in levels]


def unpacked(picture: str) -> npt.NDArray[np.float64]:
    """Read a picture: (S, S), from 0 to 1.

    >>> unpacked("0f80").shape
    (2, 2)
    """
    levels = np.array([int(digit, 16) for digit in picture], dtype=np.float64) / _LEVELS
    side = round(len(picture) ** 0.5)
    return levels.reshape(side, side)


def draw_grid(columns: Mapping[str, Sequence[str]], title: str) -> Figure:
    """Draw pictures side by side, one column for each name.

    Args:
        columns: packed pictures by name.
        title: of the whole.

    Returns:
        The figure.

    """
    height = max(len(pictures) for pictures in columns.values())
    figure = new_figure(1.3 * len(columns), 0.4 + 1.0 * height)
    grid = figure.subplots(height, len(columns), squeeze=False)
    for place, (name, pictures) in enumerate(columns.items()):
        grid[0][place].set_title(name, fontsize=7)
        for row in range(height):
            grid[row][place].set_axis_off()
            if row < len(pictures):
                grid[row][place].imshow(unpacked(pictures[row]), cmap="gray_r", vmin=0, vmax=1)
    figure.suptitle(title, fontsize=9)
    return figure
