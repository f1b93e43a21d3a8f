"""Figures as bytes, and as elements of a page whose marks show their numbers."""

from __future__ import annotations

import io
from typing import Literal

from aninfonce.plots._axes import Figure, plain_logs
from aninfonce.plots.hover import inline, name_points


def render(figure: Figure, kind: Literal["svg", "png"]) -> bytes:
    """Draw a figure as bytes: the same for equal figures, with text as text, and no tick as a power of ten.

    >>> from matplotlib.figure import Figure
    >>> render(Figure(), "png")[1:4]
    b'PNG'
    """
    import matplotlib

    plain_logs(figure)
    file = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "aninfonce"}):
        figure.savefig(file, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()


def inline_svg(figure: Figure, name: str, description: str) -> str:
    """Draw a figure as an element of a page.

    Args:
        figure: to draw; lines with marks get an id.
        name: the beginning of these ids, unique on the page.
        description: for readers who cannot see it.

    """
    texts = name_points(figure, name)
    return inline(render(figure, "svg"), texts, description)
