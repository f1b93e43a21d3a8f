"""Figure 3: latents of a VAE recovered from its images, and real digits told apart by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aninfonce.metrics import concentration_error, linear_r2
from aninfonce_papers.engine import trained
from aninfonce_papers.engine.base import ANINFONCE, Cell, Metrics, Preset, Published, Study
from aninfonce_papers.rusak2025.images import world

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

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
# Of one step on one core, for estimates before there are rows to go by.
_STEP_SECONDS: dict[Preset, float] = {"smoke": 0.05, "laptop": 0.09, "paper": 0.3}


def cells(preset: Preset) -> list[Cell]:
    """Give both losses at each Λ₂, and with ten different Λ over a small and a large range."""
    return [
        _cell(preset, loss, name, concentration, known)
        for loss in R2
        for name, concentration, known in (*_two_blocks(loss), *_all_different(loss))
    ]


def _cell(
    preset: Preset, loss: str, name: str, concentration: list[float], known: dict[str, Published]
) -> Cell:
    sizes = {**world.sizes(preset, loss), **world.REAL_SIZES[preset]}
    if preset == "laptop":
        sizes["steps"] = _STEPS.get(name, _STEPS[loss])
    seconds = 2.0 + sizes["steps"] * _STEP_SECONDS[preset]
    parameters = {"concentration": concentration, "loss": loss}
    return Cell(name, parameters, sizes, known, seconds, world.ORIGINAL)


def _two_blocks(loss: str) -> list[tuple[str, list[float], dict[str, Published]]]:
    goal: Any = "higher" if loss == "AnInfoNCE" else "equal"
    grid = []
    for place, value in enumerate(VALUES):
        known = {part: Published(R2[loss][part][place], precision=0.005, goal=goal) for part in _PARTS}
        known["kNN accuracy"] = Published(NEIGHBOURS[loss][place], precision=5e-4, goal=goal)
        grid.append((f"{loss} Λ₂={value}", [5.0] * 5 + [float(value)] * 5, known))
    return grid


def _all_different(loss: str) -> list[tuple[str, list[float], dict[str, Published]]]:
    goal: Any = "higher" if loss == "AnInfoNCE" else "equal"
    grid = []
    for largest, r2 in SPREAD_R2[loss].items():
        truth = np.linspace(5.0, largest, world.DIM).tolist()
        known = {"R²": Published(r2, precision=5e-4, goal=goal)}
        if loss == "AnInfoNCE":
            error = concentration_error(np.array(SPREAD_CONCENTRATION[largest]), np.array(truth)).mean
            known["error of Λ̂"] = Published(round(error, 4), precision=5e-4, goal="lower")
        grid.append((f"{loss} Λ=5…{largest}", truth, known))
    return grid


def run(cell: Cell, seed: int) -> Metrics:
    """Train on decoded images alone; R² of the latents, Λ̂, and neighbours among real images."""
    settings = cell.configuration
    truth = settings["concentration"]
    source = world.decoded(world.known_vae(settings), truth, seed)
    fitted = world.train_on(source, settings, seed)
    test = trained.fresh_pairs(source.process, settings, seed)
    assert test.z is not None
    score = linear_r2(test.z, fitted.embed(test.x), partitions=_PARTS)
    metrics: Metrics = {"R²": score.mean}
    if "Λ₂" in cell.name:
        metrics = {**score.per_partition, **metrics}
    metrics["kNN accuracy"] = world.class_accuracy(lambda images: fitted.embed(images.flatten(1)), settings)
    known = ["r2"]
    if fitted.concentration is not None:
        metrics["error of Λ̂"] = concentration_error(fitted.concentration.numpy(), np.array(truth)).mean
        metrics["Λ̂"] = [round(value, 4) for value in sorted(fitted.concentration.tolist())]
        known.append("concentration")
    return {**metrics, "curves": trained.curves(fitted, *known)}


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² and neighbours over Λ₂, and Λ̂ over the steps where all Λ differ."""
    from matplotlib.figure import Figure

    figures = {}
    blocks = [row for row in rows if "Λ₂" in row["cell"]]
    if blocks:
        figures["blocks"] = Figure(figsize=(8.0, 3.4), layout="constrained")
        _draw_blocks(figures["blocks"], blocks)
    learned = [row for row in rows if "…" in row["cell"] and "Λ̂" in row["metrics"] and row["seed"] == 0]
    if learned:
        figures["concentration"] = Figure(figsize=(8.0, 3.4), layout="constrained")
        _draw_concentration(figures["concentration"], learned)
    return figures


def _draw_blocks(figure: Figure, rows: Sequence[Row]) -> None:
    left, right = figure.subplots(1, 2)
    original = all(row["configuration"]["dataset"] == world.ORIGINAL["dataset"] for row in rows)
    for colour, loss in enumerate(R2):
        mine = [row for row in rows if row["configuration"]["loss"] == loss]
        places = [row["configuration"]["concentration"][-1] for row in mine]
        lines = [(left, part, mark, R2[loss][part]) for part, mark in (("content", "o"), ("style", "s"))]
        for axes, metric, mark, known in [*lines, (right, "kNN accuracy", "o", NEIGHBOURS[loss])]:
            ours = [row["metrics"][metric] for row in mine]
            axes.plot(places, ours, mark, color=f"C{colour}", label=f"{loss}, {metric}")
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
    for axes, row in zip(grid, rows, strict=True):
        traced = row["metrics"]["curves"]
        axes.plot(traced["steps"], traced["concentration"], color="C0", linewidth=1)
        for value in row["configuration"]["concentration"]:
            axes.axhline(value, color="black", linestyle="--", linewidth=0.6)
        axes.set(xlabel="step", ylabel="Λ̂", title=row["cell"])


STUDY = Study(
    name="fig3",
    title="Latents of a VAE, recovered from its images",
    paper=ANINFONCE,
    source="Figure 3; R² on held-out pairs, neighbours among real images",
    cells=cells,
    run=run,
    plot=plot,
    remarks=(
        "Ten different Λ have 4000 and 8000 steps on the laptop preset, and end tenths of a point of R² below"
        " the paper. Neighbours find fewer digits by what InfoNCE keeps than in the paper, whose VAE, and"
        " whose choice of latents that are style, are others.",
    ),
)
