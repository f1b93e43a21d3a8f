"""Two columns of an embedding, as a cloud or as a path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aninfonce._validation import describe
from aninfonce.plots._arrays import Floats, as_matrix
from aninfonce.plots._axes import CYCLE, SOFT, Axes, Figure, new_axes
from aninfonce.plots.coloring import Coloring, coloring

# More marks than this are drawn as pixels, even in an SVG, which would otherwise take megabytes.
_MOST_VECTORS = 2000


def embedding_plot(
    z: Any,
    *,
    color: Any = None,
    label: str | None = None,
    columns: Sequence[int] = (0, 1),
    trajectory: bool = False,
) -> Figure:
    """Draw two columns of an embedding, coloured by time or by a label.

    Example:
        >>> turn = np.linspace(0, 6, 50)
        >>> figure = embedding_plot(np.stack([np.cos(turn), np.sin(turn)], axis=1), trajectory=True)
        >>> [axes.get_xlabel() for axes in figure.axes][0], len(figure.axes)  # the second is the colour bar
        ('column 0', 2)

    Args:
        z: (n, d).
        color: (n,): numbers become a colour bar; texts, truth values or up to ten different whole numbers a
            legend. None colours by the number of the row.
        label: what the colour is.
        columns: the two to draw; one is drawn against the number of the row.
        trajectory: whether to join each row to the next by a thin line.

    """
    points = as_matrix(z, "z")
    which = _checked(columns, points.shape[1])
    colours = coloring(color, len(points), label)
    y = points[:, which[-1]]
    flat = len(which) == 1
    x = np.arange(len(points), dtype=np.float64) if flat else points[:, which[0]]
    figure, axes = new_axes(*((6.4, 3.6) if flat else (5.6, 4.6)))
    many = len(points) > _MOST_VECTORS
    if trajectory:
        # A long path is a tangle: it is drawn fainter, so that the marks can be seen.
        faint = float(np.clip(300 / len(x), 0.1, 0.6))
        axes.plot(x, y, color=SOFT, linewidth=0.6, alpha=faint, zorder=1, rasterized=many)
    _scatter(figure, axes, x, y, colours, many)
    axes.set(xlabel="row" if flat else f"column {which[0]}", ylabel=f"column {which[-1]}")
    if not flat:
        axes.set_aspect("equal", adjustable="datalim")
    return figure


def _scatter(figure: Figure, axes: Axes, x: Floats, y: Floats, colours: Coloring, many: bool) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    size = float(np.clip(6000 / len(x), 3.0, 26.0))
    style: dict[str, Any] = {"s": size, "linewidths": 0, "alpha": 0.85, "rasterized": many, "zorder": 2}
    if colours.names is None:
        # The brightest yellow is lost on white.
        shades = ListedColormap(colormaps["viridis"](np.linspace(0.0, 0.92, 256)))
        marks = axes.scatter(x, y, c=colours.values, cmap=shades, **style)
        bar = figure.colorbar(marks, ax=axes, label=colours.title, pad=0.02)
        if bar.solids is not None:
            bar.solids.set_alpha(1.0)
        return
    for place, name in enumerate(colours.names):
        mine = colours.values == place
        axes.scatter(x[mine], y[mine], color=CYCLE[place], label=name, **style)
    # Above: at the side a long name would leave the cloud no room.
    columns = 5 if max(map(len, colours.names)) < 8 else 2
    legend = figure.legend(
        loc="outside upper left", ncols=columns, frameon=False, title=colours.title or None, fontsize="small"
    )
    legend.set_alignment("left")
    for handle in legend.legend_handles:
        if handle is not None:
            handle.set_alpha(1.0)
            handle.set_sizes([36.0])  # type: ignore[attr-defined]


def _checked(columns: Sequence[int], dim: int) -> list[int]:
    try:
        which = [int(column) for column in columns]
    except (TypeError, ValueError):
        which = []
    if not 1 <= len(which) <= 2 or not all(0 <= column < dim for column in which):
        raise ValueError(f"`columns` must be one or two of 0 to {dim - 1}, got {describe(columns)}")
    return which
