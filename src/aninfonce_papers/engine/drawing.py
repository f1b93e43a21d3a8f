"""What the plots of studies share. Matplotlib is loaded when the first one is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aninfonce_papers.engine.row import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """Make a figure of this size in inches whose texts do not overlap."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def marks(axes: Axes, rows: Sequence[Row], places: Mapping[str, float], metric: str, **style: Any) -> None:
    """Draw a metric of the cells that have a place on the horizontal axis, a mark for each run."""
    mine = [row for row in rows if row.cell in places]
    x, y = [places[row.cell] for row in mine], [row.number(metric) for row in mine]
    axes.plot(x, y, **{"marker": "o", "linestyle": "", **style})


def traces(axes: Axes, rows: Sequence[Row], cell: str, curve: str = "r2", **style: Any) -> None:
    """Draw what was measured over the steps of one cell's trainings, a line for each run."""
    for row in rows:
        if row.cell == cell:
            axes.plot(*row.curve(curve), linewidth=1, **style)


def dots(axes: Axes, rows: Sequence[Row], lines: Mapping[str, str], metrics: Mapping[str, str]) -> None:
    """Draw metrics, by label, one line per cell from the top; `lines` says what each is called."""
    for number, (label, metric) in enumerate(metrics.items()):
        shift = 0.2 * (number - (len(metrics) - 1) / 2)
        heights = {cell: height + shift for height, cell in enumerate(lines)}
        mine = [row for row in rows if row.cell in heights]
        values, places = [row.number(metric) for row in mine], [heights[row.cell] for row in mine]
        axes.plot(values, places, "o", color=f"C{number}", alpha=0.7, label=label)
    names = list(lines.values())
    axes.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
