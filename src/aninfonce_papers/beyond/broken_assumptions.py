"""Each assumption of the theorem in flat space broken by itself, a little, more and much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aninfonce_papers.beyond.methods import SECONDS, SIZES, contrastive, scores
from aninfonce_papers.beyond.worlds import make_recording
from aninfonce_papers.engine.base import Cell, Configuration, Metrics, Preset, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

_PHI = [0.5, 0.8, 0.95, 0.99]
# Of the sources, the first so many share a φ.
_SHARED = {2: [0.8, 0.8, 0.95, 0.99], 3: [0.8, 0.8, 0.8, 0.99], 4: [0.8, 0.8, 0.8, 0.8]}
# What a cell is called, how `make_recording` breaks it, and how much.
_DIALS: tuple[tuple[str, str, tuple[float, float, float]], ...] = (
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


def cells(preset: Preset) -> list[Cell]:
    """Give the recording as the theorem wants it, and three strengths of each violation."""
    sizes = {**SIZES[preset], **({"steps": _STEPS} if preset == "laptop" else {})}

    def cell(name: str, family: str, dial: float, changed: Configuration | None = None, **world: Any) -> Cell:
        parameters = {"family": family, "dial": dial, "method": "flat", "phi": _PHI, **world}
        return Cell(name, parameters, {**sizes, **(changed or {})}, estimate=SECONDS[preset])

    grid = [cell("nothing broken", "none", 0.0)]
    for name, broken, dials in _DIALS:
        grid += [cell(f"{name}{dial:g}", broken, dial, broken=broken) for dial in dials]
    for law, label in (("normal", "Gaussian"), ("laplace", "Laplace")):
        grid += [
            cell(f"{count} of 4 share Λ, {label}", f"equal, {label}", count, phi=phi, innovations=law)
            for count, phi in _SHARED.items()
        ]
    for share in _FEWER:
        rows = round(share * sizes["rows"])
        grid.append(cell(f"few rows, {share:g} of them", "rows", share, {"rows": rows}))
    return grid


def run(cell: Cell, seed: int) -> Metrics:
    """Train in flat space on a recording that breaks an assumption; compare with the true sources."""
    settings = cell.configuration
    broken = settings.get("broken", "none")
    recording = make_recording(
        settings["phi"],
        settings["rows"] + settings["test_rows"],
        seed,
        innovations=settings.get("innovations", "normal"),
        broken=broken,
        dial=settings["dial"] if broken != "none" else 0.0,
        candidates=settings["candidates"],
    )
    return scores(recording, contrastive(recording.x, settings, seed, judged=True), settings)


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² and mean correlation for each violation, from a little to much."""
    from matplotlib.figure import Figure

    # From a little to much, in whatever order the rows were finished.
    places = {cell.name: place for place, cell in enumerate(cells("laptop"))}
    rows = sorted(rows, key=lambda row: places.get(row["cell"], len(places)))
    families = list(dict.fromkeys(row["configuration"]["family"] for row in rows))
    figure = Figure(figsize=(9.0, 1.2 + 0.6 * len(families)), layout="constrained")
    for axes, metric in zip(figure.subplots(1, 2, sharey=True), ("R²", "mean correlation"), strict=True):
        for number, family in enumerate(families):
            mine = [row for row in rows if row["configuration"]["family"] == family]
            names = list(dict.fromkeys(row["cell"] for row in mine))
            for row in mine:
                strength = names.index(row["cell"])
                place = number + 0.2 * (strength - (len(names) - 1) / 2)
                axes.plot(row["metrics"][metric], place, "o", color=f"C{strength}", alpha=0.7)
        axes.set(xlabel=metric, yticks=range(len(families)), yticklabels=families)
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
    cells=cells,
    run=run,
    plot=plot,
    remarks=(
        "Three strengths of each violation, from a little to much; `aninfonce_papers.beyond.worlds` defines "
        "them. Scores are read on the end of the recording, which no step saw.",
    ),
)
