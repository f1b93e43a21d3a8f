"""Figures as bytes, and as elements of a page whose marks show their numbers."""

from __future__ import annotations

import io
from typing import Literal

from aninfonce.plots._axes import Figure, plain_logs
from aninfonce.plots.hover import inline, name_points


def render(figure: Figure, kind: Literal["svg", "png"]) -> bytes:
    """Draw a figure; equal figures give equal bytes, text stays text, and no tick is a power of ten.

    Example:
        >>> from matplotlib.figure import Figure
        >>> render(Figure(), "png")[1:4]
        b'PNG'

    Args:
        figure: to draw.
        kind: of the file.

    Returns:
        Its content.

    """
    import matplotlib

    plain_logs(figure)
    file = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "aninfonce"}):
        figure.savefig(file, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()


def inline_svg(figure: Figure, name: str, description: str) -> str:
    """Draw a figure as an element of a page.

    Example:
        >>> from matplotlib.figure import Figure
        >>> inline_svg(Figure(), "empty", "nothing")[:4]
        '<svg'

    Args:
        figure: to draw; lines with marks get an id.
        name: the beginning of these ids, unique on the page.
        description: what a reader who cannot see it is told.

    Returns:
        The element.

    """
    texts = name_points(figure, name)
    return inline(render(figure, "svg"), texts, description)
