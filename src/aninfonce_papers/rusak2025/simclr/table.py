"""The published table as values to compare with, and accuracy drawn against readout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from aninfonce_papers.engine import Published, Row
from aninfonce_papers.engine.drawing import new_figure
from aninfonce_papers.rusak2025.simclr.probes import GREY_READOUTS, LAYERS, READOUTS, half, metric_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ("classes", *READOUTS, "average")
_ONLY_GREY = [name for name in GREY_READOUTS if name not in READOUTS]


def published(printed: Mapping[str, Sequence[float]]) -> dict[str, Published]:
    """Name the printed values of one method.

    >>> found = published({"backbone": (90.9, 56.1, 59.3, 62.6, 55.4, 55.1, 57.7)})
    >>> found["backbone: hue [%]"].value
    55.4

    Args:
        printed: for each layer, one value for each of `COLUMNS`.

    Returns:
        Values to compare with, by metric.

    """
    return {
        metric_name(layer, what): Published(value, precision=0.05)
        for layer, values in printed.items()
        for what, value in zip(COLUMNS, values, strict=True)
    }


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw class accuracy against the average readout, a panel for each layer, and each readout by method."""
    tradeoff = new_figure(9.0, 4.4)
    for axes, layer in zip(tradeoff.subplots(1, 2), LAYERS, strict=True):
        _draw_tradeoff(axes, rows, layer)
    readouts = new_figure(9.0, 4.2)
    for axes, layer in zip(readouts.subplots(1, 2, sharey=True), LAYERS, strict=True):
        _draw_readouts(axes, rows, layer)
    for figure in (tradeoff, readouts):
        # Both panels have the same marks.
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return {"tradeoff": tradeoff, "readouts": readouts}


def _draw_tradeoff(axes: Axes, rows: Sequence[Row], layer: str) -> None:
    for number, row in enumerate(rows):
        x, y = (row.number(metric_name(layer, what)) for what in ("average", "classes"))
        axes.plot(x, y, "o", color=f"C{number}", label=row.cell)
        known = row.published
        if metric_name(layer, "average") in known:
            x, y = (known[metric_name(layer, what)].value for what in ("average", "classes"))
            axes.plot(x, y, "+", color=f"C{number}", markersize=10)
    axes.set(xlabel="average readout [%]", ylabel="classes [%]", title=f"{layer} (+: published)")


def _draw_readouts(axes: Axes, rows: Sequence[Row], layer: str) -> None:
    for number, row in enumerate(rows):
        names = [name for name in (*READOUTS, *_ONLY_GREY) if metric_name(layer, name) in row.metrics]
        values = [row.number(metric_name(layer, name)) for name in names]
        axes.plot(names, values, "o-", color=f"C{number}", linewidth=1, label=row.cell)
        weaker = {name: metric_name(layer, half(name)) for name in names}
        halves = {name: row.number(metric) for name, metric in weaker.items() if metric in row.metrics}
        if halves:
            axes.plot(
                list(halves), list(halves.values()), "o:", color=f"C{number}", markersize=3, linewidth=1
            )
            axes.set_xlabel("dotted: half as strong")
    axes.axhline(50.0, color="black", linestyle=":", linewidth=1)
    axes.set(ylabel="was it applied? [%]", title=layer)
