"""What Figures 4 and 9 share: R² over grids of the batch size with dimension or concentration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aninfonce.metrics import linear_r2
from aninfonce_papers.engine import Experiment, Loss, Metrics, Preset, Published, Row
from aninfonce_papers.engine.drawing import marks, new_figure
from aninfonce_papers.engine.on_process import SIZES, Outcome, ProcessScore, curves, on_process

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Marks printed with two digits.
_PRECISION = 0.005
# R² is all that is read here. A Λ̂ below the true one lets more anchors of a batch have a gradient
# (`docs/training.md`), and needs no closing fit.
_HELD = 15.0


@dataclass(frozen=True)
class Panel:
    """A grid of a figure.

    Attributes:
        name: what its columns are.
        process: name of the preset process, with the column's value in place of `{}`.
        values: along the columns.
        published: R² of each column, by batch size.

    """

    name: str
    process: str
    values: Sequence[int]
    published: Mapping[int, Sequence[float]]

    def cells(self) -> Iterator[tuple[str, int, int, float]]:
        """Give name, batch size, value and published R² of each cell."""
        for batch_size, row in self.published.items():
            for value, r2 in zip(self.values, row, strict=True):
                yield f"{self.name}={value}, batch {batch_size}", batch_size, value, r2


class RSquared(ProcessScore):
    """R² of all latents together."""

    def measure(self, outcome: Outcome) -> Metrics:
        """Score one training."""
        r2 = 100.0 * linear_r2(outcome.z, outcome.embedding).mean / 100.0
        return {"R²": r2, "curves": curves(outcome.fitted, "r2")}


def panel_experiments(panel: Panel, preset: Preset, paper_steps: int) -> list[Experiment]:
    """Give an experiment for each batch size and value; the authors took `paper_steps`."""
    sizes, loss = SIZES[preset], Loss()
    if preset == "paper":
        sizes = replace(sizes, steps=paper_steps)
    else:
        sizes = replace(sizes, closing_pairs=0, whiten=True, held=True)
        loss = Loss(options={"initial": _HELD})
    return [
        on_process(
            name,
            panel.process.format(value),
            replace(sizes, batch_size=batch_size, grows=False),
            RSquared(test_pairs=sizes.test_pairs),
            {"R²": Published(r2, precision=_PRECISION)},
            loss=loss,
            slower=0.5 + batch_size / 1_000,
        )
        for name, batch_size, value, r2 in panel.cells()
    ]


def draw(panels: Sequence[Panel], rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² over the columns, a line for each batch size, dotted where published."""
    there = {row.cell for row in rows}
    shown = [panel for panel in panels if any(name in there for name, *_ in panel.cells())]
    figure = new_figure(4.6 * len(shown), 3.6)
    for axes, panel in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
        for number, (size, known) in enumerate(panel.published.items()):
            places = {name: float(value) for name, batch, value, _ in panel.cells() if batch == size}
            marks(axes, rows, places, "R²", color=f"C{number}", label=f"batch {size}")
            axes.plot(panel.values, known, ":", color=f"C{number}", linewidth=1)
        axes.plot([], [], ":", color="grey", label="published")
        axes.set(xlabel=panel.name, ylabel="R²", ylim=(0.0, 1.05))
        axes.legend(fontsize=8)
    return {"grid": figure}
