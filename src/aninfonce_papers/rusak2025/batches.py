"""What Figures 4 and 9 share: R² over grids of the batch size with dimension or concentration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from aninfonce_papers.engine import trained
from aninfonce_papers.engine.base import Cell, Metrics, Preset, Published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

# Marks printed with two digits.
_PRECISION = 0.005


def grid_cells(
    preset: Preset,
    panel: str,
    process: str,
    values: Sequence[int],
    published: Mapping[int, Sequence[float]],
    paper_steps: int,
) -> list[Cell]:
    """Give a cell for each batch size and value.

    Args:
        preset: size.
        panel: start of the cells' names.
        process: name of the preset process, with the value in place of `{}`.
        values: along the columns.
        published: R² of each column, by batch size.
        paper_steps: of the authors.

    """
    # The batch is what the grid is about: it is a parameter, and stays what it is all along.
    sizes = {name: value for name, value in trained.SIZES[preset].items() if name != "batch_size"}
    if preset == "paper":
        sizes["steps"] = paper_steps
    else:
        # R² is all that is read here. A Λ̂ below the true one lets more anchors of a batch have a gradient
        # (`docs/training.md`), and needs no closing fit.
        sizes |= {"closing_pairs": 0, "whiten": True, "held": 15.0}
    cells = []
    for batch_size, row in published.items():
        for value, r2 in zip(values, row, strict=True):
            seconds = trained.estimate(preset, sizes, 0.5 + batch_size / 1_000)
            parameters = {"process": process.format(value), "batch_size": batch_size, "grows": False}
            name = f"{panel}={value}, batch {batch_size}"
            cells.append(Cell(name, parameters, sizes, {"R²": Published(r2, precision=_PRECISION)}, seconds))
    return cells


def run(cell: Cell, seed: int) -> Metrics:
    """Train AnInfoNCE and read R²."""
    settings = cell.configuration
    paper = settings["recipe"] == "paper"
    options = {"positive_map": "softplus"} if paper else {"initial": settings["held"]}
    loss = {"name": "aninfonce", "options": options}
    source, fitted = trained.train(settings, seed, space="sphere", loss=loss)
    r2 = trained.scores(source, fitted, settings, seed)["R² [%]"] / 100.0
    return {"R²": r2, "curves": trained.curves(fitted, "r2")}


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² over the columns, a line for each batch size, dotted where published."""
    from matplotlib.figure import Figure

    panels: dict[str, list[Row]] = {}
    for row in rows:
        panels.setdefault(row["cell"].partition("=")[0], []).append(row)
    figure = Figure(figsize=(4.6 * len(panels), 3.6), layout="constrained")
    for place, (panel, mine) in enumerate(panels.items(), start=1):
        axes = figure.add_subplot(1, len(panels), place)
        sizes = sorted({row["configuration"]["batch_size"] for row in mine})
        for number, size in enumerate(sizes):
            group = [row for row in mine if row["configuration"]["batch_size"] == size]
            group.sort(key=_column)
            columns = [_column(row) for row in group]
            colour = f"C{number}"
            axes.plot(
                columns, [row["metrics"]["R²"] for row in group], "o", color=colour, label=f"batch {size}"
            )
            theirs = {_column(row): row["published"]["R²"]["value"] for row in group}
            axes.plot(list(theirs), list(theirs.values()), ":", color=colour, linewidth=1)
        axes.plot([], [], ":", color="grey", label="published")
        axes.set(xlabel=panel, ylabel="R²", ylim=(0.0, 1.05))
        axes.legend(fontsize=8)
    return {"grid": figure}


def _column(row: Row) -> float:
    """Read the value of a cell off its name."""
    return float(row["cell"].partition("=")[2].partition(",")[0])
