"""Pillow, imported when a picture is first opened."""

from __future__ import annotations

from typing import Any


def pillow() -> Any:
    """Give the module `PIL.Image`, or say how to install it."""
    try:
        from PIL import Image
    except ImportError:
        raise ValueError("pictures need Pillow: pip install 'aninfonce[images]'") from None
    return Image
