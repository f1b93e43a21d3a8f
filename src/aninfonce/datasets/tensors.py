"""Images as the numbers that models compute with."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from aninfonce._validation import check_count, describe

_SLACK = 1e-4
# Pictures that are held as floats at a time.
_CHUNK = 512


def pixel_tensor(images: Any, name: str = "images") -> Tensor:
    """Read images as float32 from 0 to 1.

    Example:
        >>> pixel_tensor(np.array([0, 51, 255], dtype=np.uint8))
        tensor([0.0000, 0.2000, 1.0000])

    Args:
        images: an array or tensor of uint8, or of floats from 0 to 1, of any shape; may be read-only.
        name: name of the argument, for error messages.

    Returns:
        float32 of the same shape.

    """
    if isinstance(images, np.ndarray):
        # A plain array that may be written to, since torch warns of any other.
        images = np.require(images, requirements=["C", "W", "E"])
    pixels = torch.as_tensor(images)
    if pixels.dtype == torch.uint8:
        return pixels.float() / 255
    if not pixels.is_floating_point():
        raise ValueError(f"`{name}` must be uint8 or floating-point, got {describe(images)}")
    if pixels.numel():
        low, high = (float(bound) for bound in pixels.detach().aminmax())
        # Written so that NaN is refused too.
        if not (low >= -_SLACK and high <= 1 + _SLACK):
            raise ValueError(f"floating-point `{name}` must lie from 0 to 1, got {low:g} to {high:g}")
    return pixels.float()


def coarse_pixels(images: Any, squares: int = 4) -> Tensor:
    """Give the mean colours of a few squares of each picture: what one would see from afar.

    Example:
        >>> coarse_pixels(np.full((2, 3, 8, 8), 255, dtype=np.uint8), squares=1)
        tensor([[1., 1., 1.],
                [1., 1., 1.]])

    Args:
        images: uint8 (N, C, H, W), taken by rows; may be on disk.
        squares: along a side of the picture.

    Returns:
        float32 (N, C · squares²).

    """
    pool = torch.nn.AdaptiveAvgPool2d(check_count(squares, "squares"))
    parts = (np.arange(start, min(start + _CHUNK, len(images))) for start in range(0, len(images), _CHUNK))
    return torch.cat([pool(pixel_tensor(images[rows])).flatten(1) for rows in parts])
