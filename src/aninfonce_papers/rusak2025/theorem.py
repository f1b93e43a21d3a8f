"""Theorem 3.1: the map is block-orthogonal and Λ̂ = Λ up to order, for one, two and ten blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aninfonce.metrics import block_orthogonality, concentration_error, linear_r2
from aninfonce_papers.engine import trained
from aninfonce_papers.engine.base import ANINFONCE, Cell, Metrics, Preset, Published, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

_PROCESSES = {"one block": "fig2/5", "two blocks": "fig2/25", "all different": "fig2/linspace"}


def cells(preset: Preset) -> list[Cell]:
    """Give Λ with one value, two values, and ten different ones."""
    sizes = trained.SIZES[preset]
    published = {
        "distance from block-orthogonal": Published(0.0, precision=0.1, goal="lower"),
        "error of Λ̂": Published(0.0, precision=0.05, goal="lower"),
    }
    return [
        Cell(name, {"process": process}, sizes, published, trained.estimate(preset, sizes))
        for name, process in _PROCESSES.items()
    ]


def run(cell: Cell, seed: int) -> Metrics:
    """Train AnInfoNCE, fit the map from latents to embedding, and see how far it is from what is promised."""
    settings = cell.configuration
    options = {"positive_map": "softplus"} if settings["recipe"] == "paper" else {}
    loss = {"name": "aninfonce", "options": options}
    source, fitted = trained.train(settings, seed, space="sphere", loss=loss)
    test = trained.fresh_pairs(source, settings, seed)
    assert test.z is not None
    assert source.concentration is not None
    assert fitted.concentration is not None
    embedding = fitted.embed(test.x)
    blocks = block_orthogonality(test.z, embedding, source.concentration, fitted.concentration)
    return {
        "distance from block-orthogonal": blocks.residual,
        "error of Λ̂": concentration_error(fitted.concentration, source.concentration).mean,
        "energy between blocks": blocks.off_block_energy,
        "R²": linear_r2(test.z, embedding).mean,
        "map": [[round(value, 3) for value in row] for row in blocks.map.tolist()],
    }


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw the map from latents to embedding, first seed of each cell, in the order of Λ."""
    from matplotlib.figure import Figure

    first: dict[str, Row] = {}
    for row in rows:
        first.setdefault(row["cell"], row)
    figure = Figure(figsize=(3.2 * len(first), 3.2), layout="constrained")
    for place, (name, row) in enumerate(first.items(), start=1):
        axes = figure.add_subplot(1, len(first), place)
        axes.imshow(row["metrics"]["map"], cmap="RdBu", vmin=-1.0, vmax=1.0)
        axes.set(title=name, xlabel="latent", ylabel="embedding", xticks=(), yticks=())
    return {"map": figure}


STUDY = Study(
    name="theorem",
    title="The learned map is block-orthogonal and Λ̂ is Λ",
    paper=ANINFONCE,
    source="Theorem 3.1; a distance of 0.1 and 5 % of Λ count as nothing",
    cells=cells,
    run=run,
    plot=plot,
    reference="promised",
)
