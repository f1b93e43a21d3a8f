"""Figure 3: latents of a VAE recovered from its images, and real digits classified by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from pydantic import JsonValue, PositiveInt

from aninfonce.extending import stream
from aninfonce.metrics import concentration_error, linear_r2
from aninfonce_papers.engine import Experiment, Metrics, Preset, Published, Row, Score, Study, Watch
from aninfonce_papers.engine.drawing import marks, new_figure, traces
from aninfonce_papers.engine.on_process import curves, rounded
from aninfonce_papers.engine.published import ANINFONCE, Goal
from aninfonce_papers.rusak2025.images import world

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VALUES = (5, 25, 50)
R2 = {
    "AnInfoNCE": {"content": (0.98, 0.99, 0.99), "style": (0.99, 0.99, 0.99)},
    "InfoNCE": {"content": (0.98, 0.94, 0.94), "style": (0.99, 0.03, 0.01)},
}
NEIGHBOURS = {"AnInfoNCE": (0.939, 0.938, 0.938), "InfoNCE": (0.939, 0.666, 0.668)}
# Λ from 5 to the key in equal steps.
SPREAD_R2 = {"AnInfoNCE": {50: 0.997, 200: 0.996}, "InfoNCE": {50: 0.774, 200: 0.763}}
SPREAD_CONCENTRATION = {
    50: (5.88, 10.33, 15.06, 19.92, 24.53, 29.17, 33.85, 39.19, 44.45, 49.10),
    200: (5.49, 26.53, 47.68, 69.05, 86.82, 103.05, 119.57, 142.53, 166.19, 182.25),
}
_PARTS = {"style": tuple(range(5)), "content": tuple(range(5, 10))}
# InfoNCE has lost what it loses by then; ten different Λ take longer, longest when the largest is forty times
# the smallest.
_STEPS = {"InfoNCE": 1_000, "AnInfoNCE": 2_000, "AnInfoNCE Λ=5…50": 4_000, "AnInfoNCE Λ=5…200": 8_000}


class LatentsAndNeighbours(Score):
    """R² of the latents, Λ̂, and neighbours among real images.

    Attributes:
        test_pairs: fresh ones, to score on.
        real: images to look among.
        by_part: also score style and content by themselves.

    """

    test_pairs: PositiveInt
    real: world.RealImages
    by_part: bool

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Train on decoded images alone, and score."""
        pairs = experiment.pairs
        assert isinstance(pairs, world.DecodedPairs)
        source = pairs.open(seed)
        fitted = world.train_on(source, experiment, seed)
        test = source.process.sample(self.test_pairs, stream(seed, "test pairs"))
        assert test.z is not None
        score = linear_r2(test.z, fitted.embed(test.x), partitions=_PARTS)
        metrics: dict[str, JsonValue] = {**score.per_partition} if self.by_part else {}
        metrics["R²"] = score.mean
        accuracy = self.real.class_accuracy(lambda x: fitted.embed(x.flatten(1)), pairs.dataset)
        metrics["kNN accuracy"] = accuracy
        known = ["r2"]
        if fitted.concentration is not None:
            truth = np.array(pairs.concentration)
            metrics["error of Λ̂"] = concentration_error(fitted.concentration.numpy(), truth).mean
            metrics["Λ̂"] = rounded(fitted.concentration)
            known.append("concentration")
        return {**metrics, "curves": curves(fitted, *known)}


def experiments(preset: Preset) -> list[Experiment]:
    """Give both losses at each Λ₂, and with ten different Λ over a small and a large range."""
    return [
        _experiment(preset, loss, name, concentration, known)
        for loss in R2
        for name, concentration, known in (*_two_blocks(loss), *_all_different(loss))
    ]


def _experiment(
    preset: Preset, loss: str, name: str, concentration: tuple[float, ...], known: dict[str, Published]
) -> Experiment:
    sizes = world.sizes_of(preset, loss)
    if preset == "laptop":
        sizes = replace(sizes, steps=_STEPS.get(name, _STEPS[loss]))
    blocks = len(set(concentration)) < len(concentration)
    return Experiment(
        name=name,
        pairs=world.decoded(preset, concentration),
        encoder=world.ENCODERS[preset],
        loss=world.LOSSES[loss],
        recipe=sizes.build(),
        watch=Watch(pairs=min(4_096, sizes.test_pairs)),
        score=LatentsAndNeighbours(test_pairs=sizes.test_pairs, real=world.REAL[preset], by_part=blocks),
        published=known,
        judged_if=world.JUDGED_IF,
        seconds=sizes.seconds(),
    )


def _block_name(loss: str, value: int) -> str:
    return f"{loss} Λ₂={value}"


def _two_blocks(loss: str) -> list[tuple[str, tuple[float, ...], dict[str, Published]]]:
    goal: Goal = "higher" if loss == "AnInfoNCE" else "equal"
    grid: list[tuple[str, tuple[float, ...], dict[str, Published]]] = []
    for place, value in enumerate(VALUES):
        known = {part: Published(R2[loss][part][place], precision=0.005, goal=goal) for part in _PARTS}
        known["kNN accuracy"] = Published(NEIGHBOURS[loss][place], precision=5e-4, goal=goal)
        grid.append((_block_name(loss, value), (5.0,) * 5 + (float(value),) * 5, known))
    return grid


def _all_different(loss: str) -> list[tuple[str, tuple[float, ...], dict[str, Published]]]:
    goal: Goal = "higher" if loss == "AnInfoNCE" else "equal"
    grid: list[tuple[str, tuple[float, ...], dict[str, Published]]] = []
    for largest, r2 in SPREAD_R2[loss].items():
        truth = tuple(np.linspace(5.0, largest, world.DIM).tolist())
        known = {"R²": Published(r2, precision=5e-4, goal=goal)}
        if loss == "AnInfoNCE":
            error = concentration_error(np.array(SPREAD_CONCENTRATION[largest]), np.array(truth)).mean
            known["error of Λ̂"] = Published(round(error, 4), precision=5e-4, goal="lower")
        grid.append((f"{loss} Λ=5…{largest}", truth, known))
    return grid


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² and neighbours over Λ₂, and Λ̂ over the steps where all Λ differ."""
    figures = {}
    blocks = [row for row in rows if "content" in row.metrics]
    if blocks:
        figures["blocks"] = new_figure(8.0, 3.4)
        _draw_blocks(figures["blocks"], blocks)
    different = [row for row in rows if "content" not in row.metrics and row.seed == 0]
    learned = [row for row in different if "Λ̂" in row.metrics]
    if learned:
        figures["concentration"] = new_figure(8.0, 3.4)
        _draw_concentration(figures["concentration"], learned)
    return figures


def _draw_blocks(figure: Figure, rows: Sequence[Row]) -> None:
    left, right = figure.subplots(1, 2)
    original = all(row.is_judged for row in rows)
    for colour, loss in enumerate(R2):
        places = {_block_name(loss, value): float(value) for value in VALUES}
        lines = [(left, part, mark, R2[loss][part]) for part, mark in (("content", "o"), ("style", "s"))]
        for axes, metric, mark, known in [*lines, (right, "kNN accuracy", "o", NEIGHBOURS[loss])]:
            style = {"marker": mark, "color": f"C{colour}", "label": f"{loss}, {metric}"}
            marks(axes, rows, places, metric, **style)
            if original:
                axes.plot(VALUES, known, ":", color=f"C{colour}", linewidth=1)
    if original:
        left.plot([], [], ":", color="grey", label="published")
    left.set(xlabel="Λ₂ (Λ₁ = 5)", ylabel="R²", ylim=(-0.05, 1.05))
    right.set(xlabel="Λ₂ (Λ₁ = 5)", ylabel="accuracy on real images", ylim=(0.4, 1.0))
    for axes in (left, right):
        axes.legend(fontsize=8)


def _draw_concentration(figure: Figure, rows: Sequence[Row]) -> None:
    grid = figure.subplots(1, len(rows), squeeze=False)[0]
    truths = {name: truth for name, truth, _ in _all_different("AnInfoNCE")}
    for axes, row in zip(grid, rows, strict=True):
        traces(axes, [row], row.cell, "concentration", color="C0")
        for value in truths[row.cell]:
            axes.axhline(value, color="black", linestyle="--", linewidth=0.6)
        axes.set(xlabel="step", ylabel="Λ̂", title=row.cell)


STUDY = Study(
    name="fig3",
    title="Latents of a VAE, recovered from its images",
    paper=ANINFONCE,
    source="Figure 3; R² on held-out pairs, neighbours among real images",
    experiments=experiments,
    plot=plot,
    remarks=(
        "Ten different Λ have 4000 and 8000 steps on the laptop preset, and end tenths of a point of R² below"
        " the paper. Neighbours find fewer digits by what InfoNCE keeps than in the paper, whose VAE, and"
        " whose choice of latents that are style, are others.",
    ),
)
