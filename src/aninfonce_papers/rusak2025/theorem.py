"""Theorem 3.1: the map is block-orthogonal and Λ̂ = Λ up to order, for one, two and ten blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from aninfonce.metrics import block_orthogonality, concentration_error, linear_r2
from aninfonce_papers.engine import Experiment, Metrics, Preset, Published, Row, Study
from aninfonce_papers.engine.drawing import new_figure
from aninfonce_papers.engine.on_process import SIZES, Outcome, ProcessScore, on_process
from aninfonce_papers.engine.published import ANINFONCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PROCESSES = {"one block": "fig2/5", "two blocks": "fig2/25", "all different": "fig2/linspace"}
_PROMISED = {
    "distance from block-orthogonal": Published(0.0, precision=0.1, goal="lower"),
    "error of Λ̂": Published(0.0, precision=0.05, goal="lower"),
}


class BlockOrthogonality(ProcessScore):
    """How far the map from latents to embedding, and Λ̂, are from what the theorem promises."""

    def measure(self, outcome: Outcome) -> Metrics:
        """Score one training."""
        truth, learned = outcome.process.concentration, outcome.concentration
        assert truth is not None
        blocks = block_orthogonality(outcome.z, outcome.embedding, truth, learned)
        return {
            "distance from block-orthogonal": blocks.residual,
            "error of Λ̂": concentration_error(learned, truth).mean,
            "energy between blocks": blocks.off_block_energy,
            "R²": linear_r2(outcome.z, outcome.embedding).mean,
            "map": [[round(value, 3) for value in row] for row in blocks.map.tolist()],
        }


def experiments(preset: Preset) -> list[Experiment]:
    """Give Λ with one value, two values, and ten different ones."""
    sizes = SIZES[preset]
    score = BlockOrthogonality(test_pairs=sizes.test_pairs)
    return [on_process(name, process, sizes, score, _PROMISED) for name, process in _PROCESSES.items()]


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw the map from latents to embedding, first seed of each cell, in the order of Λ."""
    first: dict[str, Row] = {}
    for row in rows:
        first.setdefault(row.cell, row)
    figure = new_figure(3.2 * len(first), 3.2)
    for place, (name, row) in enumerate(first.items(), start=1):
        axes = figure.add_subplot(1, len(first), place)
        axes.imshow(np.array(row.metrics["map"]), cmap="RdBu", vmin=-1.0, vmax=1.0)
        axes.set(title=name, xlabel="latent", ylabel="embedding", xticks=(), yticks=())
    return {"map": figure}


STUDY = Study(
    name="theorem",
    title="The learned map is block-orthogonal and Λ̂ is Λ",
    paper=ANINFONCE,
    source="Theorem 3.1; a distance of 0.1 and 5 % of Λ count as nothing",
    experiments=experiments,
    plot=plot,
    reference="promised",
)
