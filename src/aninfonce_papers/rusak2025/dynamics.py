"""Figure 8 A, B, D and E: steps that it takes to reach a given R²."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aninfonce.training import fit
from aninfonce_papers.engine import trained
from aninfonce_papers.engine.base import Cell, Metrics, Preset, Published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

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


def cells(preset: Preset) -> list[Cell]:
    """Give each concentration with each batch size."""
    kept = {name: value for name, value in trained.WIDE_SIZES[preset].items() if name != "batch_size"}
    sizes = {**kept, "steps": _STEPS[preset]}
    if preset != "paper":
        sizes |= {"rates": 2.0, "closing_pairs": 0}
    return [
        Cell(
            f"dynamics Λ={value}, batch {batch_size}",
            {"process": f"fig8/{value}", "batch_size": batch_size},
            sizes,
            {
                _metric(level): Published(1_000.0 * steps, precision=_PRECISION, goal="lower")
                for level, steps in zip(LEVELS, known, strict=False)
            },
            trained.estimate(preset, sizes, 0.3 + batch_size / 1_000),
        )
        for value, batches in PUBLISHED.items()
        for batch_size, known in batches.items()
    ]


def run(cell: Cell, seed: int) -> Metrics:
    """Train AnInfoNCE and see when R² on held-out pairs is first at each level; none if it never is."""
    settings = cell.configuration
    options = {"positive_map": "softplus"} if settings["recipe"] == "paper" else {}
    source = trained.source(settings, seed)
    loss = {"name": "aninfonce", "options": options}
    config = trained.training_config(settings, seed, space="sphere", loss=loss)
    traced = trained.curves(fit(source, config), "r2")
    return {"end R²": traced["r2"][-1], **steps_to(traced["steps"], traced["r2"]), "curves": traced}


def steps_to(steps: Sequence[int], r2: Sequence[float]) -> Metrics:
    """Say at which step each level is first seen.

    >>> steps_to([100, 200, 300], [0.5, 0.71, 0.69])
    {'steps to R² 0.6': 200, 'steps to R² 0.7': 200}
    """
    seen = {
        level: [step for step, value in zip(steps, r2, strict=True) if value >= level] for level in LEVELS
    }
    return {_metric(level): found[0] for level, found in seen.items() if found}


def draw(rows: Sequence[Row]) -> Figure:
    """Draw R² over the steps, a panel for each Λ, and the published steps as crosses."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    for axes, (value, batches) in zip(figure.subplots(1, 2), PUBLISHED.items(), strict=True):
        for number, (batch_size, known) in enumerate(batches.items()):
            for row in rows:
                if row["cell"] == f"dynamics Λ={value}, batch {batch_size}":
                    traced = row["metrics"]["curves"]
                    axes.plot(traced["steps"], traced["r2"], color=f"C{number}", linewidth=1)
            steps = [1_000.0 * thousands for thousands in known]
            axes.plot(steps, LEVELS[: len(steps)], "x", color=f"C{number}", label=f"batch {batch_size}")
        axes.set(xscale="log", xlabel="step", ylabel="R²", title=f"Λ = {value} (crosses: published)")
        axes.legend(fontsize=8)
    return figure


def _metric(level: float) -> str:
    return f"steps to R² {level:g}"
