"""The trade-off between classes and what varies, over kind and strength of augmentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aninfonce.augment import Augmentation, Blur, Compose, Crop, Flip
from aninfonce_papers.engine.base import ANINFONCE, Cell, Metrics, Preset, Study
from aninfonce_papers.rusak2025.images import views

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

KINDS = ("crop", "blur", "crop, flip and blur")
# Of SimCLR's ranges, 1 being all of them.
STRENGTHS = (0.25, 0.5, 1.0)
METRICS = ("class accuracy", "R² of the VAE's latents", "crop readout", "blur readout")
_STEPS: dict[Preset, int] = {"smoke": 20, "laptop": 500, "paper": 20_000}
_SECONDS: dict[Preset, float] = {"smoke": 2.0, "laptop": 60.0, "paper": 4_000.0}


def cells(preset: Preset) -> list[Cell]:
    """Give both losses with each kind at each strength."""
    return [
        Cell(
            f"{loss}, {kind} × {strength:g}",
            {"loss": loss, "kind": kind, "strength": strength},
            {**views.sizes(preset), "steps": _STEPS[preset]},
            estimate=_SECONDS[preset],
        )
        for kind in KINDS
        for strength in STRENGTHS
        for loss in views.LOSSES
    ]


def augmentation(kind: str, strength: float) -> Augmentation:
    """Build one kind of augmentation.

    >>> augmentation("crop", 0.5).area
    (0.6, 1.0)

    Args:
        kind: one of `KINDS`.
        strength: 1 for SimCLR's ranges; less makes the smallest crop larger and the widest blur narrower.

    Returns:
        The augmentation.

    """
    crop = Crop(area=(round(1.0 - 0.8 * strength, 6), 1.0))
    blur = Blur(sigma=(0.1, 2.0 * strength), p=0.5)
    if kind == "crop":
        return crop
    return blur if kind == "blur" else Compose([crop, Flip(p=0.5), blur])


def run(cell: Cell, seed: int) -> Metrics:
    """Train on views of one kind and strength, and measure as `mnist-augmentations` does."""
    settings = cell.configuration
    return views.train_and_score(augmentation(settings["kind"], settings["strength"]), settings, seed)


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw each score over the strength: a colour for each kind, lines for AnInfoNCE, dashes for InfoNCE."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 6.0), layout="constrained")
    panels = figure.subplots(2, 2).flat
    for axes, metric in zip(panels, METRICS, strict=True):
        for number, kind in enumerate(KINDS):
            for loss, line in (("AnInfoNCE", "o-"), ("InfoNCE", "s--")):
                mine = [
                    (row["configuration"]["strength"], row["metrics"][metric])
                    for row in rows
                    if (row["configuration"]["kind"], row["configuration"]["loss"]) == (kind, loss)
                ]
                places, values = zip(*sorted(mine), strict=True) if mine else ((), ())
                axes.plot(places, values, line, color=f"C{number}", label=f"{loss}, {kind}", markersize=4)
        axes.set(xlabel="strength (1: SimCLR's)", title=metric)
    figure.axes[0].legend(fontsize=6)
    return {"trade-off": figure}


STUDY = Study(
    name="augmentation-strength",
    title="Classes against what varies, by kind and strength of augmentation",
    paper=f"Ours, after Appendix G of {ANINFONCE}",
    source="nothing: the paper has one strength",
    cells=cells,
    run=run,
    plot=plot,
)
