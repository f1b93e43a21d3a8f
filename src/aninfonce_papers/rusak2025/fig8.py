"""Figure 8: steps to a given R² (A, B, D, E), and the overlap of positives and negatives (C, F)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from aninfonce.extending import stream
from aninfonce.processes import process
from aninfonce_papers.engine.base import ANINFONCE, Cell, Metrics, Preset, Study
from aninfonce_papers.rusak2025 import dynamics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

_PAIRS = {"smoke": 2_000, "laptop": 100_000, "paper": 100_000}
_BATCHES = (50, 250, 500, 1000)
_BINS = 100


def cells(preset: Preset) -> list[Cell]:
    """Give both concentrations of the figure, and the dynamics for each batch size."""
    n = _PAIRS[preset]
    overlaps = [
        Cell(f"overlap Λ={value}", {"process": f"fig8/{value}"}, {"pairs": n}, estimate=n / 20_000)
        for value in (25, 75)
    ]
    return [*overlaps, *dynamics.cells(preset)]


def run(cell: Cell, seed: int) -> Metrics:
    """Histograms of both similarities, their overlap, how often the positive is nearest; or the dynamics."""
    settings = cell.configuration
    if "pairs" not in settings:
        return dynamics.run(cell, seed)
    generator = stream(seed, "pairs")
    source = process(settings["process"], mixing="identity")
    batch = source.sample(settings["pairs"], generator)
    assert batch.z is not None
    assert batch.z_pos is not None
    positive = (batch.z * batch.z_pos).sum(dim=1)
    negative = (batch.z * batch.z.roll(1, dims=0)).sum(dim=1)
    counts = [torch.histc(part, _BINS, -1.0, 1.0) / len(part) for part in (positive, negative)]
    metrics: Metrics = {
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


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw both histograms for each concentration, and R² over the steps."""
    figures = {}
    trained = [row for row in rows if "pairs" not in row["configuration"]]
    if len(trained) < len(rows):
        figures["overlap"] = _draw_overlap([row for row in rows if "pairs" in row["configuration"]])
    if trained:
        figures["dynamics"] = dynamics.draw(trained)
    return figures


def _draw_overlap(rows: Sequence[Row]) -> Figure:
    from matplotlib.figure import Figure

    shown = {row["cell"]: row["metrics"] for row in rows}
    figure = Figure(figsize=(4.2 * len(shown), 3.2), layout="constrained")
    width = 2.0 / _BINS
    middles = [-1.0 + width * (i + 0.5) for i in range(_BINS)]
    for place, (name, metrics) in enumerate(shown.items(), start=1):
        axes = figure.add_subplot(1, len(shown), place)
        axes.bar(middles, metrics["negatives"], width, alpha=0.6, label="negatives")
        axes.bar(middles, metrics["positives"], width, alpha=0.6, label="positives")
        axes.set(title=f"{name}: {metrics['overlap']:.2g}", xlabel="cosine similarity", ylabel="share")
        axes.legend()
    return figure


STUDY = Study(
    name="fig8",
    title="Learning dynamics, and the overlap of positives and negatives, at small and large concentration",
    paper=ANINFONCE,
    source="Figure 8; C and F are histograms without numbers",
    cells=cells,
    run=run,
    plot=plot,
)
