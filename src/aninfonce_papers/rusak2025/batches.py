"""What Figures 4, 8 and 9 share: batch sizes beside dimension or concentration, trained on a laptop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aninfonce.metrics import linear_r2
from aninfonce_papers.engine import Experiment, Loss, Metrics, Preset, Published, Row
from aninfonce_papers.engine.drawing import marks, new_figure
from aninfonce_papers.engine.on_process import SIZES, Outcome, ProcessScore, Sizes, curves, on_process
from aninfonce_papers.rusak2025.averaged import AveragedLoss

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Marks printed with two digits.
_PRECISION = 0.005
# R² is all that is read here. A Λ̂ below the true one lets more anchors of a batch have a gradient
# (`docs/training.md`), and needs no closing fit.
_HELD = 15.0
# Pairs of a step, however they are divided into batches: the same for all batch sizes, or nearly.
_PAIRS = 1_000
AVERAGED = (
    "On the laptop preset a step averages the gradient over as many batches as make up 1000 pairs (20 of"
    " 50, 4 of 250, 2 of 500). An anchor of a batch of 50 still has 49 negatives, so the loss and its optimum"
    " are those of that batch size; its gradient only has less noise, which the paper's up to 1.2 million"
    " steps average out instead."
)


@dataclass(frozen=True)
class Panel:
    """A grid of a figure.

    Attributes:
        name: what its columns are.
        process: name of the preset process, with the column's value in place of `{}`.
        values: along the columns.
        published: R² of each column, by batch size.
        steps: on the laptop preset, of columns that need another number; the same at all batch sizes.

    """

    name: str
    process: str
    values: Sequence[int]
    published: Mapping[int, Sequence[float]]
    steps: Mapping[int, int] = field(default_factory=dict)

    def cells(self) -> Iterator[tuple[str, int, int, float]]:
        """Give name, batch size, value and published R² of each cell."""
        for batch_size, row in self.published.items():
            for value, r2 in zip(self.values, row, strict=True):
                yield f"{self.name}={value}, batch {batch_size}", batch_size, value, r2


class RSquared(ProcessScore):
    """R² of all latents together."""

    def measure(self, outcome: Outcome) -> Metrics:
        """Score one training."""
        return {"R²": linear_r2(outcome.z, outcome.embedding).mean, "curves": curves(outcome.fitted, "r2")}


def averaged_batches(batch_size: int) -> int:
    """Give how many batches a step on a laptop averages over.

    >>> [averaged_batches(size) for size in (50, 250, 501, 4000)]
    [20, 4, 2, 1]
    """
    return max(1, round(_PAIRS / batch_size))


def laptop_sizes(preset: Preset, batch_size: int) -> tuple[Sizes, Loss]:
    """Give sizes and loss of a batch size, on a preset that is not the paper's."""
    batches = averaged_batches(batch_size)
    sizes = replace(
        SIZES[preset],
        batch_size=batches * batch_size,
        grows=False,
        closing_pairs=0,
        whiten=True,
        # Gradients of so many pairs have little noise: higher rates are only faster.
        rates=3.0,
        held=True,
    )
    if batches == 1:
        return sizes, Loss(options={"initial": _HELD})
    return sizes, AveragedLoss(size=batch_size, initial=_HELD)


def panel_experiments(panel: Panel, preset: Preset, paper_steps: int) -> list[Experiment]:
    """Give an experiment for each batch size and value.

    Args:
        panel: the grid.
        preset: size.
        paper_steps: that the authors took.

    """
    grid = []
    for name, batch_size, value, r2 in panel.cells():
        sizes, loss = replace(SIZES["paper"], steps=paper_steps, batch_size=batch_size), Loss()
        if preset != "paper":
            sizes, loss = laptop_sizes(preset, batch_size)
        if preset == "laptop":
            sizes = replace(sizes, steps=panel.steps.get(value, sizes.steps))
        grid.append(
            on_process(
                name,
                panel.process.format(value),
                sizes,
                RSquared(test_pairs=sizes.test_pairs),
                {"R²": Published(r2, precision=_PRECISION)},
                loss=loss,
                slower=0.5 + sizes.batch_size / 1_000,
            )
        )
    return grid


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
