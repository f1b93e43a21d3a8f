"""An embedding that can be turned: one HTML page that needs no other file and no network."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from aninfonce._validation import describe
from aninfonce.plots._arrays import as_matrix
from aninfonce.plots._axes import CYCLE, plain
from aninfonce.plots.coloring import Coloring, coloring
from aninfonce.plots.pages import page_template

# More points than this make turning jerky, and hide each other.
MOST_POINTS = 20_000
# Shades of the scale of numbers, and the part of it that is visible on a white and on a dark page.
_SHADES = 64
_ENDS = {"light": (0.0, 0.88), "dark": (0.22, 1.0)}
# Share of white that makes a colour for white paper readable on a dark page.
_LIGHTER = 0.35


def embedding_page(z: Any, *, color: Any = None, label: str | None = None, title: str = "Embedding") -> str:
    """Make a page on which three columns of an embedding are a cloud to turn with mouse, fingers or keys.

    If there are more than 20 000 rows, an even selection is shown and the page says so. If there are more
    than three columns, the reader chooses which to see.

    Example:
        >>> page = embedding_page(np.eye(3), color=["a", "b", "b"], title="Three points")
        >>> "<title>Three points</title>" in page, "http" in page
        (True, False)

    Args:
        z: (n, d); missing columns of a flat embedding are 0.
        color: (n,): numbers become a colour bar; texts, truth values or up to ten different whole numbers a
            legend. None colours by the number of the row.
        label: what the colour is.
        title: heading of the page.

    Returns:
        The page as HTML.

    """
    points = as_matrix(z, "z")
    if not isinstance(title, str):
        raise ValueError(f"`title` must be a text, got {describe(title)}")
    colours = coloring(color, len(points), label)
    total = len(points)
    if total > MOST_POINTS:
        rows = np.linspace(0, total - 1, MOST_POINTS).round().astype(np.intp)
        points, colours = points[rows], colours.take(rows)
    palettes = {scheme: _palette(colours, scheme) for scheme in _ENDS}
    data = {
        "columns": [_packed(column) for column in points.T],
        "shade": _packed(_shades(colours)),
        "palettes": palettes,
    }
    low, high = float(colours.values.min()), float(colours.values.max())
    return page_template("embedding.html.j2").render(
        title=title,
        data=data,
        shown=len(points),
        total=total,
        dim=points.shape[1],
        colours=colours,
        palettes=palettes,
        ends=(plain(low), plain(high)),
    )


def _packed(values: Any) -> str:
    """Encode numbers in a quarter of the space that digits take."""
    return base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode()


def _shades(colours: Coloring) -> Any:
    """Place of each row in its palette."""
    if colours.names is not None:
        return colours.values
    low, high = colours.values.min(), colours.values.max()
    share = (colours.values - low) / (high - low) if high > low else np.zeros(len(colours.values))
    return np.minimum(np.floor(share * _SHADES), _SHADES - 1)


def _palette(colours: Coloring, scheme: str) -> list[str]:
    from matplotlib import colormaps
    from matplotlib.colors import to_hex, to_rgb

    if colours.names is None:
        return [to_hex(shade) for shade in colormaps["viridis"](np.linspace(*_ENDS[scheme], _SHADES))]
    white = _LIGHTER if scheme == "dark" else 0.0
    return [
        to_hex((np.array(to_rgb(colour)) * (1 - white) + white).tolist())
        for colour in CYCLE[: len(colours.names)]
    ]
