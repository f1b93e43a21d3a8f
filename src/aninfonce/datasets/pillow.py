"""Pictures by Pillow, which is imported when the first one is opened."""

from __future__ import annotations

import warnings
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from aninfonce.datasets.images import DatasetError
from aninfonce.datasets.reading import reading

# Whatever the file's name says. Left to itself, Pillow would hand PostScript to another program.
_FORMATS = ("JPEG", "PNG", "BMP", "WEBP", "PPM", "TIFF")
_OPENING = Lock()


def pillow() -> Any:
    """Give the module `PIL.Image`, or say how to install it."""
    try:
        from PIL import Image
    except ImportError:
        raise ValueError("pictures need Pillow: pip install 'aninfonce[images]'") from None
    return Image


def read_picture(path: str | Path, side: int | None = None) -> Any:
    """Read a picture as 8-bit RGB.

    Grey values of 16 bits are scaled to 8. Palettes and CMYK become the colours that they stand for.
    Transparency is left out: pixels keep their colours, as in other loaders.

    Args:
        path: of the file, in any format of photographs and screens.
        side: decode no finer than needed for a square of this side, where the format allows it.

    Returns:
        Pillow's image. A `DatasetError` says why there is none: more pixels than Pillow's `MAX_IMAGE_PIXELS`
        are refused before they are decoded.

    """
    image = pillow()
    with reading(Path(path), "a picture"), _open(image, path) as picture:
        if side is not None:
            # JPEG can decode at a fraction of its size, which is much faster for large photographs.
            picture.draft("RGB", (2 * side, 2 * side))
        # Portable grey maps of 16 bits come as "I", but so do files of 32 bits.
        if picture.mode.startswith("I;16") or (picture.mode == "I" and picture.format in ("PNG", "PPM")):
            values = np.asarray(picture).astype(np.uint32)
            return image.fromarray(((values + 128) // 257).astype(np.uint8)).convert("RGB")
        if picture.mode in ("I", "F"):
            raise DatasetError(
                f"{path} must have grey values of 8 or 16 bits, whose range is known, got 32 bits"
            )
        if picture.mode == "P" and "transparency" in picture.info:
            # Pillow warns about the direct conversion.
            picture = picture.convert("RGBA")
        return picture.convert("RGB")


def _open(image: Any, path: str | Path) -> Any:
    # Pillow only warns of a picture that is too large. Filters of warnings belong to the whole process: one
    # thread at a time may change them.
    with _OPENING, warnings.catch_warnings():
        warnings.simplefilter("error", image.DecompressionBombWarning)
        return image.open(path, formats=_FORMATS)
