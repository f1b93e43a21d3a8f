"""Table 1 of cl-ica: linear identifiability, also where the model's assumptions are wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from aninfonce_papers.engine import Experiment, Metrics, Preset, Published, Row, Study
from aninfonce_papers.engine.drawing import new_figure, traces
from aninfonce_papers.engine.on_process import SIZES, Outcome, curves, on_process
from aninfonce_papers.engine.published import CL_ICA
from aninfonce_papers.zimmermann2021.cl_ica import (
    LOSSES,
    Baseline,
    Recovery,
    TableRow,
    table_experiments,
    table_plot,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METRIC = "R² [%]"
# Pairs with κ = 1 share so little that noise decides: many more of them, at a third of the rates.
_FAINT = partial(replace, steps=18_000, batch_size=2_048, grows=False, rates=0.3, whiten=True)
# With few negatives near an anchor the edges of the box bend: batches grow, as they do in `table2`.
_GROWING = partial(replace, steps=1_000, grows=((0.3, 1_024), (0.7, 4_096)))
_PLAIN = partial(replace, adam_lr=0.008)
ROWS = (
    TableRow("sphere, uniform, vMF κ=1", "sphere", "vMF", 99.42, 0.05, laptop=_FAINT, slower=2.4),
    TableRow("sphere, uniform, vMF κ=10", "sphere", "vMF", 99.86, 0.01),
    TableRow("sphere, uniform, Laplace .05", "sphere", "vMF", 99.91, 0.01),
    TableRow("sphere, uniform, Normal .05", "sphere", "vMF", 99.86, 0.00),
    TableRow("box, uniform, Normal .05", "unbounded", "Normal", 99.60, 0.02, laptop=_GROWING, slower=1.5),
    TableRow("box, uniform, Laplace .05", "unbounded", "Normal", 99.64, 0.02),
    TableRow("box, uniform, Laplace .05", "unbounded", "GenNorm β=3", 99.70, 0.02),
    TableRow("box, uniform, Normal .05", "unbounded", "GenNorm β=3", 99.69, 0.02),
    TableRow("sphere, Normal σ=1, Laplace .05", "sphere", "vMF", 99.02, 0.01),
    TableRow("sphere, Normal σ=1, Normal .05", "sphere", "vMF", 99.02, 0.02),
    TableRow("unbounded, Laplace 1, Normal 1", "unbounded", "Normal", 98.13, 0.14),
    TableRow("unbounded, Normal 1, Normal 1", "unbounded", "Normal", 98.76, 0.03),
)
# The same pairs with a potential of the candidates, which makes the true latents the optimum of the loss.
BEYOND = {
    11: (TableRow("unbounded, Laplace 1, Normal 1", "unbounded", "Normal, β", 98.13, 0.14, laptop=_PLAIN),),
    12: (TableRow("unbounded, Normal 1, Normal 1", "unbounded", "Normal, β", 98.76, 0.03, laptop=_PLAIN),),
}
# Steps and pairs of a step with the paper's encoder and Adam; the preset "paper" has 300 003 of 6144.
_PAPERS_ENCODER = {"smoke": (30, 64), "laptop": (2_500, 256)}
# Ten times the paper's rate, for want of steps.
_PAPERS_RATE = 1e-3
BASELINES = (
    Baseline("identity", "rows 1–4", 1, 66.98, 2.79),
    Baseline("supervised", "rows 1–4", 1, 99.71, 0.05),
    Baseline("identity", "rows 5–8", 5, 67.93, 7.40),
    Baseline("supervised", "rows 5–8", 5, 99.78, 0.06),
    Baseline("identity", "rows 9–10", 9, 63.37, 2.41),
    Baseline("supervised", "rows 9–10", 9, 99.70, 0.07),
    Baseline("identity", "row 11", 11, 62.49, 1.65),
    Baseline("supervised", "row 11", 11, 99.65, 0.04),
    Baseline("identity", "row 12", 12, 63.57, 2.30),
    Baseline("supervised", "row 12", 12, 99.61, 0.17),
)


class FollowedRecovery(Recovery):
    """The scores of a row, and the loss of held-out pairs along its training."""

    def measure(self, outcome: Outcome) -> Metrics:
        """Score one training."""
        return {**super().measure(outcome), "curves": curves(outcome.fitted, "r2", "held_out_loss")}


def experiments(preset: Preset) -> list[Experiment]:
    """Give the twelve rows and their baselines."""
    rows = {number: [row, *BEYOND.get(number, ())] for number, row in enumerate(ROWS, start=1)}
    return [*table_experiments("table1", METRIC, rows, BASELINES, preset), *_papers_encoder(preset)]


def _papers_encoder(preset: Preset) -> list[Experiment]:
    """Give rows 11 and 12 with the paper's encoder, whose R² and loss are followed; not judged."""
    if preset == "paper":
        return []
    steps, batch_size = _PAPERS_ENCODER[preset]
    sizes = replace(SIZES["paper"], steps=steps, batch_size=batch_size, candidates=SIZES[preset].candidates)
    found = []
    for number in BEYOND:
        row = ROWS[number - 1]
        experiment = on_process(
            _followed(number),
            f"table1/row{number}",
            sizes,
            FollowedRecovery(test_pairs=SIZES[preset].test_pairs, losses=True),
            {METRIC: Published(row.value, row.spread, precision=0.005, goal="shown")},
            loss=LOSSES[row.model],
            space="unbounded",
            slower=0.2,
        )
        found.append(experiment.edited("recipe.adam_lr", _PAPERS_RATE))
    return found


def _followed(number: int) -> str:
    return f"paper's encoder, row {number}"


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw ours beside the published values, and how rows 11 and 12 come to theirs."""
    unbounded = {
        number: [
            row for row in rows if row.cell.startswith(f"row {number}:") or row.cell == _followed(number)
        ]
        for number in BEYOND
    }
    if not any(unbounded.values()):
        return table_plot(rows, METRIC)
    return {**table_plot(rows, METRIC), "unbounded": _draw_unbounded(unbounded)}


def _draw_unbounded(rows: Mapping[int, Sequence[Row]]) -> Figure:
    """Draw R² over the steps; the loss of the paper's encoder; and losses at the end beside the latents'."""
    figure = new_figure(12.0, 3.4)
    *left, middle, right = figure.subplots(1, len(rows) + 2)
    for axes, (number, mine) in zip(left, rows.items(), strict=True):
        for row in mine:
            traces(axes, [row], row.cell, color=_colour(row.cell))
        for colour, label in (("C1", "without β"), ("C0", "with β"), ("C2", "paper's encoder")):
            axes.plot([], [], color=colour, label=label)
        axes.axhline(ROWS[number - 1].value / 100, color="grey", linestyle=":", label="published end")
        axes.set(xlabel="step", ylabel="R²", ylim=(0.2, 1.01), title=f"row {number}")
        # Between what ours and the paper's encoder reach.
        axes.legend(fontsize=8, loc="center right", bbox_to_anchor=(1.0, 0.6))
        style = "-" if number == min(rows) else "--"
        traces(middle, mine, _followed(number), "held_out_loss", color="C2", linestyle=style)
        middle.plot([], [], color="C2", linestyle=style, label=f"row {number}")
        for row in mine:
            for metric in ("loss", "loss of the latents"):
                if metric in row.metrics:
                    mark, colour = ("o", _colour(row.cell)) if metric == "loss" else ("x", "black")
                    right.plot([number], [row.number(metric)], mark, color=colour)
    for mark, colour, label in (
        ("o", "C1", "encoder"),
        ("o", "C2", "paper's encoder"),
        ("x", "black", "true latents, best scale"),
    ):
        right.plot([], [], mark, color=colour, label=label)
    middle.set(xlabel="step", ylabel="loss of held-out pairs", title="paper's encoder")
    right.set(xlabel="row", xticks=list(rows), ylabel="loss at the end", title="on the same pairs")
    right.margins(x=0.6, y=0.4)
    middle.legend(fontsize=8)
    right.legend(fontsize=8, loc="upper left")
    return figure


def _colour(cell: str) -> str:
    if cell.startswith("paper"):
        return "C2"
    return "C0" if cell.endswith("β") else "C1"


STUDY = Study(
    name="table1",
    title="Linear identifiability under matching and mismatching assumptions",
    paper=CL_ICA,
    source="Table 1, five seeds; ours on held-out pairs",
    experiments=experiments,
    plot=plot,
    remarks=(
        "Rows 11 and 12: the optimum of this loss is not the latents. Its negatives are anchors, which are"
        " not uniform here, and −‖Δ‖² cannot make up for their density: the encoder ends far below the loss"
        " of the true latents at their best scale. R² rises to that end and never passes the published value"
        " on its way. With a potential β of the candidates the latents are the optimum. The paper's encoder"
        " with Adam, at ten times its rate and 2500 steps of 256 pairs for want of time, is far from its end"
        " there: R² rises to .54 and .51, and whether it would pass the published value later is open. In row"
        " 12 its loss is below that of the true latents even so.",
    ),
)
