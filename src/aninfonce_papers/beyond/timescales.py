"""Sources that differ only in how fast they change, separated in flat space and by other methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aninfonce_papers.beyond.methods import METHODS, SIZES, Method, RecordingScore, recording_pairs
from aninfonce_papers.engine import Experiment, Preset, Row, Study
from aninfonce_papers.engine.drawing import dots, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PHI = (0.5, 0.7, 0.85, 0.95, 0.99)
_LINEAR: Method = "AMUSE (linear)"
# The same sources seen further apart: Λ is another, time constants are not.
_LAG = 4


def experiments(preset: Preset) -> list[Experiment]:
    """Give each method, and the one for flat space with pairs that are further apart."""
    sizes = SIZES[preset]
    runs: list[tuple[str, Method, int]] = [(method, method, 1) for method in METHODS]
    runs += [(f"flat, lag {_LAG}", "flat", _LAG), (_LINEAR, _LINEAR, 1)]
    return [
        Experiment(
            name=name,
            pairs=recording_pairs(sizes, _PHI, lag),
            score=RecordingScore(method=method, steps=sizes.steps, batch_size=sizes.batch_size, timed=True),
            seconds=0.5 if method == _LINEAR else sizes.seconds,
        )
        for name, method, lag in runs
    ]


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² and mean correlation of each method, and Λ̂ over Λ."""
    figure = new_figure(9.0, 3.8)
    left, right = figure.subplots(1, 2)
    found = {row.cell for row in rows}
    names = [cell.name for cell in experiments("laptop") if cell.name in found]
    metrics = ("R²", "mean correlation")
    dots(left, rows, dict(zip(names, names, strict=True)), dict(zip(metrics, metrics, strict=True)))
    left.set_xlim(0.0, 1.02)
    left.legend()
    known = [row for row in rows if "Λ̂" in row.metrics]
    for number, name in enumerate(name for name in names if name in {row.cell for row in known}):
        for row in known:
            if row.cell == name:
                right.loglog(row.numbers("Λ"), row.numbers("Λ̂"), "o", color=f"C{number}", alpha=0.7)
        right.plot([], [], "o", color=f"C{number}", label=name)
    right.axline((1.0, 1.0), (10.0, 10.0), color="grey", linewidth=0.8)
    right.set(xlabel="Λ = φ/(1−φ²)", ylabel="Λ̂")
    right.legend(fontsize=8)
    return {"timescales": figure}


STUDY = Study(
    name="timescales",
    title="Sources of a recording, told apart by how fast they change",
    paper="Ours: five Gaussian AR(1) sources behind the papers' mixing, one recording",
    source="none",
    experiments=experiments,
    plot=plot,
    remarks=(
        "“Flat” is `ContrastiveICA(space='flat')`: Rᵈ, a potential β, axes from second moments. Scores are "
        "read on the end of the recording, which no step saw.",
    ),
)
