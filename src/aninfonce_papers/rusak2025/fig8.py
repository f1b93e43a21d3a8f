"""Figure 8: steps to a given R² (A, B, D, E), and the overlap of positives and negatives (C, F)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from pydantic import JsonValue, PositiveInt

from aninfonce.extending import stream
from aninfonce.processes import process
from aninfonce_papers.engine import Experiment, Loss, Metrics, Preset, Published, Row, Score, Study
from aninfonce_papers.engine.drawing import new_figure, traces
from aninfonce_papers.engine.on_process import (
    SIZES,
    Outcome,
    ProcessPairs,
    ProcessScore,
    curves,
    on_process,
)
from aninfonce_papers.engine.published import ANINFONCE
from aninfonce_papers.rusak2025.batches import AVERAGED, averaged_batches, laptop_sizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVELS = (0.6, 0.7, 0.8, 0.9, 0.95)
# In thousands of steps, by Λ and batch size; levels that were not reached are left out.
PUBLISHED: dict[int, dict[int, tuple[float, ...]]] = {
    25: {
        50: (61.5, 92.5, 171.5, 456.5, 1_226.0),
        250: (16.0, 20.5, 35.5, 59.5, 134.5),
        500: (9.5, 13.0, 20.0, 30.0, 83.5),
        1000: (7.0, 9.0, 13.0, 21.0, 55.5),
    },
    75: {
        50: (914.6,),
        250: (35.5, 100.5, 399.0, 1_595.0),
        500: (14.5, 22.0, 50.0, 395.0),
        1000: (11.0, 14.0, 20.5, 81.0, 1_518.0),
    },
}
_STEPS = {"smoke": 30, "laptop": 3_000, "paper": 1_600_000}
# The authors looked every 500 steps.
_PRECISION = 250.0
_PAIRS = {"smoke": 2_000, "laptop": 100_000, "paper": 100_000}
_BATCHES = (50, 250, 500, 1000)
_BINS = 100


class Overlap(Score):
    """How far similarities of positives and of negatives overlap, and how often the positive is nearest."""

    samples: int

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Draw pairs, and count both similarities in bins."""
        assert isinstance(experiment.pairs, ProcessPairs)
        assert isinstance(experiment.pairs.process, str)
        source = process(experiment.pairs.process, mixing="identity")
        batch = source.sample(self.samples, stream(seed, "pairs"))
        assert batch.z is not None
        assert batch.z_pos is not None
        positive = (batch.z * batch.z_pos).sum(dim=1)
        negative = (batch.z * batch.z.roll(1, dims=0)).sum(dim=1)
        counts = [torch.histc(part, _BINS, -1.0, 1.0) / len(part) for part in (positive, negative)]
        metrics: dict[str, JsonValue] = {
            "overlap": float(torch.minimum(*counts).sum()),
            "positives": [round(value, 6) for value in counts[0].tolist()],
            "negatives": [round(value, 6) for value in counts[1].tolist()],
        }
        for size in _BATCHES:
            anchors = batch.z[: len(batch) // size * size].view(-1, size, source.dim)
            similarity = torch.cat([part @ part.mT for part in torch.split(anchors, 10)])
            similarity.diagonal(dim1=1, dim2=2).fill_(-torch.inf)
            own = positive[: anchors.shape[0] * size].view(-1, size)
            nearest = own > similarity.amax(dim=2)
            metrics[f"positive nearest, batch {size}"] = float(nearest.double().mean())
        return metrics


class StepsToLevels(ProcessScore):
    """The step at which R² on held-out pairs first reaches each level; levels never reached are left out.

    Attributes:
        batches: that a step averages over. Each counts as one step, as in runs with one batch per step.

    """

    batches: PositiveInt = 1

    def measure(self, outcome: Outcome) -> Metrics:
        """Score one training."""
        seen = [
            (self.batches * int(row["step"]), round(float(row["r2"]), 5))
            for row in outcome.fitted.history
            if "r2" in row
        ]
        traced = curves(outcome.fitted, "r2")
        traced["steps"] = [step for step, _ in seen]
        return {"end R²": seen[-1][1], **steps_to(*zip(*seen, strict=True)), "curves": traced}


def steps_to(steps: Sequence[int], r2: Sequence[float]) -> dict[str, int]:
    """Give the step at which each level is first reached.

    >>> steps_to([100, 200, 300], [0.5, 0.71, 0.69])
    {'steps to R² 0.6': 200, 'steps to R² 0.7': 200}
    """
    seen = {
        level: [step for step, value in zip(steps, r2, strict=True) if value >= level] for level in LEVELS
    }
    return {_metric(level): found[0] for level, found in seen.items() if found}


def experiments(preset: Preset) -> list[Experiment]:
    """Give both concentrations of the figure, and the dynamics for each batch size."""
    n = _PAIRS[preset]
    overlaps = [
        Experiment(
            name=f"overlap Λ={value}",
            pairs=ProcessPairs(process=f"fig8/{value}"),
            score=Overlap(samples=n),
            seconds=n / 20_000,
        )
        for value in PUBLISHED
    ]
    dynamics = [
        _dynamics(preset, value, batch_size, known)
        for value, batches in PUBLISHED.items()
        for batch_size, known in batches.items()
    ]
    return [*overlaps, *dynamics]


def _dynamics(preset: Preset, value: int, batch_size: int, known: Sequence[float]) -> Experiment:
    batches, loss = 1, Loss()
    sizes = replace(SIZES["paper"], batch_size=batch_size)
    if preset != "paper":
        batches = averaged_batches(batch_size)
        sizes, loss = laptop_sizes(preset, batch_size)
    return on_process(
        _name(value, batch_size),
        f"fig8/{value}",
        replace(sizes, steps=_STEPS[preset]),
        StepsToLevels(test_pairs=sizes.test_pairs, batches=batches),
        {
            _metric(level): Published(1_000.0 * steps, precision=_PRECISION, goal="lower")
            for level, steps in zip(LEVELS, known, strict=False)
        },
        loss=loss,
        slower=0.5 + sizes.batch_size / 1_000,
    )


def _name(value: int, batch_size: int) -> str:
    return f"dynamics Λ={value}, batch {batch_size}"


def _metric(level: float) -> str:
    return f"steps to R² {level:g}"


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw both histograms for each concentration, and R² over the steps."""
    figures = {}
    trained = [row for row in rows if "curves" in row.metrics]
    if len(trained) < len(rows):
        figures["overlap"] = _draw_overlap([row for row in rows if "curves" not in row.metrics])
    if trained:
        figures["dynamics"] = _draw_dynamics(trained)
    return figures


def _draw_overlap(rows: Sequence[Row]) -> Figure:
    shown = {row.cell: row for row in rows}
    figure = new_figure(4.2 * len(shown), 3.2)
    width = 2.0 / _BINS
    middles = [-1.0 + width * (i + 0.5) for i in range(_BINS)]
    for place, (name, row) in enumerate(shown.items(), start=1):
        axes = figure.add_subplot(1, len(shown), place)
        for part in ("negatives", "positives"):
            axes.bar(middles, row.numbers(part), width, alpha=0.6, label=part)
        axes.set(title=f"{name}: {row.number('overlap'):.2g}", xlabel="cosine similarity", ylabel="share")
        axes.legend()
    return figure


def _draw_dynamics(rows: Sequence[Row]) -> Figure:
    """Draw R² over the steps, a panel for each Λ, and the published steps as crosses."""
    figure = new_figure(10.0, 3.4)
    for axes, (value, batches) in zip(figure.subplots(1, 2), PUBLISHED.items(), strict=True):
        for number, (batch_size, known) in enumerate(batches.items()):
            traces(axes, rows, _name(value, batch_size), color=f"C{number}")
            steps = [1_000.0 * thousands for thousands in known]
            axes.plot(steps, LEVELS[: len(steps)], "x", color=f"C{number}", label=f"batch {batch_size}")
        axes.set(xscale="log", xlabel="step", ylabel="R²", title=f"Λ = {value} (crosses: published)")
    # Both panels have the same colours, and no corner that is free in both.
    figure.legend(*axes.get_legend_handles_labels(), fontsize=8, loc="outside right center")
    return figure


STUDY = Study(
    name="fig8",
    title="Learning dynamics, and the overlap of positives and negatives, at small and large concentration",
    paper=ANINFONCE,
    source="Figure 8; C and F are histograms without numbers",
    experiments=experiments,
    plot=plot,
    remarks=(AVERAGED + " Each of them counts as a step in the table.",),
)
