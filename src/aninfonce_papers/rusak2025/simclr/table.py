"""The published table as values to compare with, and accuracy drawn against readout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from aninfonce_papers.engine.base import Cell, Configuration, Preset, Published
from aninfonce_papers.rusak2025.simclr.objectives import UNTRAINED
from aninfonce_papers.rusak2025.simclr.probes import LAYERS, READOUTS, metric_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

COLUMNS = ("classes", *READOUTS, "average")


def published(
    printed: Mapping[str, Sequence[float]], goal: Literal["higher", "shown"]
) -> dict[str, Published]:
    """Name the printed values of one method.

    >>> found = published({"backbone": (90.9, 56.1, 59.3, 62.6, 55.4, 55.1, 57.7)}, "shown")
    >>> found["backbone: hue [%]"].value
    55.4

    Args:
        printed: for each layer, one value for each of `COLUMNS`.
        goal: of the comparison.

    Returns:
        Values to compare with, by metric.

    """
    return {
        metric_name(layer, what): Published(value, precision=0.05, goal=goal)
        for layer, values in printed.items()
        for what, value in zip(COLUMNS, values, strict=True)
    }


def table_cells(
    preset: Preset,
    methods: Sequence[str],
    sizes: Configuration,
    printed: Mapping[str, Mapping[str, Sequence[float]]],
    seconds: tuple[float, float],
) -> list[Cell]:
    """Make one cell a method.

    Args:
        preset: size. At other sizes than the paper's its values are shown without a verdict.
        methods: to train, and "untrained".
        sizes: of all of them.
        printed: values of the paper, by method and layer.
        seconds: of one step and of the probes, on one core.

    Returns:
        The cells.

    """
    goal: Literal["higher", "shown"] = "higher" if preset == "paper" else "shown"
    step, probes = seconds
    training = step * sizes["epochs"] * (sizes["images"] // sizes["batch_size"])
    return [
        Cell(
            method,
            {"method": method},
            sizes,
            published(printed.get(method, {}), goal),
            probes if method == UNTRAINED else probes + training,
        )
        for method in methods
    ]


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw class accuracy against the average readout, a panel for each layer, and each readout by method."""
    from matplotlib.figure import Figure

    tradeoff = Figure(figsize=(9.0, 4.4), layout="constrained")
    for axes, layer in zip(tradeoff.subplots(1, 2), LAYERS, strict=True):
        _draw_tradeoff(axes, rows, layer)
    readouts = Figure(figsize=(9.0, 4.2), layout="constrained")
    for axes, layer in zip(readouts.subplots(1, 2, sharey=True), LAYERS, strict=True):
        _draw_readouts(axes, rows, layer)
    for figure in (tradeoff, readouts):
        # Both panels have the same marks.
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return {"tradeoff": tradeoff, "readouts": readouts}


def _draw_tradeoff(axes: Axes, rows: Sequence[Row], layer: str) -> None:
    for number, row in enumerate(rows):
        x, y = (row["metrics"][metric_name(layer, what)] for what in ("average", "classes"))
        axes.plot(x, y, "o", color=f"C{number}", label=row["cell"])
        known = row["published"]
        if metric_name(layer, "average") in known:
            x, y = (known[metric_name(layer, what)]["value"] for what in ("average", "classes"))
            axes.plot(x, y, "+", color=f"C{number}", markersize=10)
    axes.set(xlabel="average readout [%]", ylabel="classes [%]", title=f"{layer} (+: published)")


def _draw_readouts(axes: Axes, rows: Sequence[Row], layer: str) -> None:
    for number, row in enumerate(rows):
        values = [row["metrics"][metric_name(layer, name)] for name in READOUTS]
        axes.plot(list(READOUTS), values, "o-", color=f"C{number}", linewidth=1, label=row["cell"])
    axes.axhline(50.0, color="black", linestyle=":", linewidth=1)
    axes.set(ylabel="was it applied? [%]", title=layer)
