"""Figure 9: batch size against the number of latents, at length."""

from __future__ import annotations

from aninfonce_papers.engine.base import ANINFONCE, Cell, Preset, Study
from aninfonce_papers.rusak2025 import batches

DIMENSIONS = (20, 23, 26, 30, 33, 36, 40)
PUBLISHED = {
    50: (0.54, 0.55, 0.52, 0.48, 0.48, 0.46, 0.46),
    501: (0.90, 0.87, 0.81, 0.78, 0.78, 0.74, 0.71),
    1262: (0.94, 0.92, 0.91, 0.87, 0.84, 0.83, 0.82),
    4000: (0.99, 0.94, 0.94, 0.93, 0.93, 0.91, 0.90),
}


def cells(preset: Preset) -> list[Cell]:
    """Give the grid at Λ = 75."""
    return batches.grid_cells(preset, "d", "fig9/d{}", DIMENSIONS, PUBLISHED, 500_000)


STUDY = Study(
    name="fig9",
    title="Batch size against the number of latents after many steps",
    paper=ANINFONCE,
    source="Figure 9, after 500 000 steps; ours on held-out pairs",
    cells=cells,
    run=batches.run,
    plot=batches.plot,
)
