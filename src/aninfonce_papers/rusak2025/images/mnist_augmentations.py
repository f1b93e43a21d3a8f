"""Appendix G: pairs made by augmentation; keeping more of these costs some class accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aninfonce.augment import Augmentation, Compose, simclr
from aninfonce_papers.engine import Experiment, Preset, Published, Row, Study
from aninfonce_papers.engine.drawing import new_figure
from aninfonce_papers.engine.published import ANINFONCE
from aninfonce_papers.rusak2025.images import views, world

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED = {
    "class accuracy": {"InfoNCE": 0.97, "AnInfoNCE": 0.94},
    "R² of the VAE's latents": {"InfoNCE": 0.34, "AnInfoNCE": 0.44},
    "crop readout": {"InfoNCE": 0.53, "AnInfoNCE": 0.59},
    "blur readout": {"InfoNCE": 0.58, "AnInfoNCE": 0.63},
}
_SECONDS: dict[Preset, float] = {"smoke": 2.0, "laptop": 230.0, "paper": 10_000.0}


class SimCLRViews(views.ViewScore):
    """SimCLR's views.

    Attributes:
        flips: whether some are mirrored, as in the paper.

    """

    flips: bool = True

    def augmentation(self) -> Augmentation:
        """Build them."""
        steps = simclr("mnist").steps
        return Compose([step for step in steps if self.flips or step.name != "flip"])


def experiments(preset: Preset) -> list[Experiment]:
    """Give both losses, and the same on views that are never mirrored."""
    return [_experiment(preset, loss, flips=flips) for flips in (True, False) for loss in world.LOSSES]


def _experiment(preset: Preset, loss: str, *, flips: bool) -> Experiment:
    known = {metric: Published(values[loss], precision=0.005) for metric, values in PUBLISHED.items()}
    return views.by_convolutions(
        _name(loss, flips=flips),
        preset,
        loss,
        SimCLRViews(real=views.REAL[preset], flips=flips),
        known if flips else None,
        seconds=_SECONDS[preset],
    )


def _name(loss: str, *, flips: bool) -> str:
    return loss if flips else f"{loss} without flips"


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw all scores of both losses, then those without flips; the published ones are lines."""
    figure = new_figure(8.0, 3.4)
    axes = figure.add_subplot()
    judged = [row for row in rows if row.published]
    for number, (loss, flips) in enumerate((loss, flips) for flips in (True, False) for loss in world.LOSSES):
        places = [place + 0.2 * number for place in range(len(PUBLISHED))]
        name, colour = _name(loss, flips=flips), f"C{number % 2}"
        style: dict[str, Any] = {"facecolor": colour if flips else "none", "edgecolor": colour}
        # Seeds on top of each other; only the first has a place in the legend.
        for seed, row in enumerate(row for row in rows if row.cell == name):
            values = [row.number(metric) for metric in PUBLISHED]
            axes.bar(places, values, 0.16, alpha=0.8, label="_" if seed else name, **style)
        if flips and all(row.is_judged for row in judged):
            known = [values[loss] for values in PUBLISHED.values()]
            axes.plot(places, known, "_", color="black", markersize=14)
    drawn = len({row.cell for row in rows})
    axes.set_xticks([place + 0.1 * (drawn - 1) for place in range(len(PUBLISHED))], list(PUBLISHED))
    axes.set(ylim=(0, 1), title="Views of real images (lines: published)")
    axes.legend(fontsize=8)
    return {"trade-off": figure}


STUDY = Study(
    name="mnist-augmentations",
    title="Pairs made by augmentation: classes against what varies",
    paper=ANINFONCE,
    source="Appendix G; classes by neighbours, readouts by a linear probe, on test images",
    experiments=experiments,
    plot=plot,
    remarks=(
        "The encoder has three convolutions, and 1000 steps of 256 pairs on the laptop preset, where the"
        " paper trains for ten hours: classes are told apart worse than published. Both losses count"
        " negatives as SimCLR does, at its temperature of 0.5, where AnInfoNCE starts.",
        "AnInfoNCE pays for nothing by neighbours, and 2.7 points of the classes by a linear probe; latents,"
        " crop and blur are kept alike, up to noise. Without flips both tell more digits apart, and AnInfoNCE"
        " pays some points of them by neighbours as well.",
    ),
)
