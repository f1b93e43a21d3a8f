"""The assumptions of the theorem in flat space, broken one at a time at three strengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from aninfonce_papers.beyond.methods import SIZES, RecordingScore, recording_pairs
from aninfonce_papers.beyond.worlds import Break
from aninfonce_papers.engine import Experiment, Preset, Row, Study
from aninfonce_papers.engine.drawing import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PHI = (0.5, 0.8, 0.95, 0.99)
# φ of four sources, by how many of them share one value.
_SHARED = {2: (0.8, 0.8, 0.95, 0.99), 3: (0.8, 0.8, 0.8, 0.99), 4: (0.8, 0.8, 0.8, 0.8)}
# What a cell is called, how `make_recording` breaks it, and how much.
_DIALS: tuple[tuple[str, Break, tuple[float, float, float]], ...] = (
    ("tails: Student, ν=", "tails", (10.0, 5.0, 3.0)),
    ("Λ by place, a=", "place", (0.25, 0.5, 1.0)),
    ("noise, share ", "noise", (0.05, 0.2, 0.5)),
    ("correlated, ρ=", "correlation", (0.2, 0.5, 0.8)),
    ("drift, a=", "drift", (0.25, 0.5, 1.0)),
)
# Four sources need fewer steps than five, and there are many cells.
_STEPS = 300
# Shares of the rows of the preset.
_FEWER = (0.3, 0.1, 0.03)


def experiments(preset: Preset) -> list[Experiment]:
    """Give the recording as the theorem wants it, and three strengths of each violation."""
    return [found for family in families(preset).values() for found in family]


def families(preset: Preset) -> dict[str, list[Experiment]]:
    """Give the experiments by the assumption that they break, from a little to much."""
    sizes = SIZES[preset]
    if preset == "laptop":
        sizes = replace(sizes, steps=_STEPS)
    score = RecordingScore(method="flat", steps=sizes.steps, batch_size=sizes.batch_size, judged=True)
    plain = recording_pairs(sizes, _PHI)

    def broken(name: str, **changes: object) -> Experiment:
        pairs = plain.model_copy(update=changes)
        return Experiment(name=name, pairs=pairs, score=score, seconds=sizes.seconds)

    grid = {"none": [broken("nothing broken")]}
    for name, kind, dials in _DIALS:
        grid[kind] = [broken(f"{name}{dial:g}", broken=kind, dial=dial) for dial in dials]
    for law, label in (("normal", "Gaussian"), ("laplace", "Laplace")):
        grid[f"equal, {label}"] = [
            broken(f"{count} of 4 share Λ, {label}", phi=phi, innovations=law)
            for count, phi in _SHARED.items()
        ]
    grid["rows"] = [
        broken(f"few rows, {share:g} of them", rows=round(share * sizes.rows)) for share in _FEWER
    ]
    return grid


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² and mean correlation for each violation, from a little to much."""
    there = {row.cell for row in rows}
    grid = {
        family: names
        for family, found in families("laptop").items()
        if (names := [experiment.name for experiment in found if experiment.name in there])
    }
    figure = new_figure(9.0, 1.2 + 0.6 * len(grid))
    for axes, metric in zip(figure.subplots(1, 2, sharey=True), ("R²", "mean correlation"), strict=True):
        for number, names in enumerate(grid.values()):
            for strength, name in enumerate(names):
                values = [row.number(metric) for row in rows if row.cell == name]
                place = number + 0.2 * (strength - (len(names) - 1) / 2)
                axes.plot(values, [place] * len(values), "o", color=f"C{strength}", alpha=0.7)
        axes.set(xlabel=metric, yticks=range(len(grid)), yticklabels=list(grid))
    axes.invert_yaxis()
    for strength, label in enumerate(("a little", "more", "much")):
        axes.plot([], [], "o", color=f"C{strength}", label=label)
    axes.legend()
    return {"broken": figure}


STUDY = Study(
    name="broken-assumptions",
    title="What each assumption of the theorem in flat space is worth",
    paper="Ours: four AR(1) sources behind the papers' mixing, one assumption broken at a time",
    source="none",
    experiments=experiments,
    plot=plot,
    remarks=(
        "Three strengths of each violation, from a little to much; `aninfonce_papers.beyond.worlds` defines "
        "them. Scores are read on the end of the recording, which no step saw.",
    ),
)
