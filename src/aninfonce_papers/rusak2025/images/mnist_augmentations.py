"""Appendix G: pairs made by augmentation; keeping more of these costs some class accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aninfonce.augment import Augmentation, simclr
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
_SECONDS: dict[Preset, float] = {"smoke": 2.0, "laptop": 140.0, "paper": 10_000.0}


class SimCLRViews(views.ViewScore):
    """SimCLR's views."""

    def augmentation(self) -> Augmentation:
        """Build them."""
        return simclr("mnist")


def experiments(preset: Preset) -> list[Experiment]:
    """Give both losses."""
    score = SimCLRViews(real=views.REAL[preset])
    return [
        views.on_views(
            loss,
            preset,
            loss,
            score,
            {metric: Published(values[loss], precision=0.005) for metric, values in PUBLISHED.items()},
            seconds=_SECONDS[preset],
        )
        for loss in world.LOSSES
    ]


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw all four scores of both losses, and the published ones as lines."""
    figure = new_figure(7.0, 3.4)
    axes = figure.add_subplot()
    for number, loss in enumerate(world.LOSSES):
        places = [place + 0.35 * number for place in range(len(PUBLISHED))]
        for row in rows:
            if row.cell == loss:
                values = [row.number(metric) for metric in PUBLISHED]
                axes.bar(places, values, 0.3, color=f"C{number}", alpha=0.8)
        axes.plot([], [], "s", color=f"C{number}", alpha=0.8, label=loss)
        if all(row.is_judged for row in rows):
            known = [values[loss] for values in PUBLISHED.values()]
            axes.plot(places, known, "_", color="black", markersize=22)
    axes.set_xticks([place + 0.175 for place in range(len(PUBLISHED))], list(PUBLISHED))
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
        "The encoder is the multilayer perceptron of `fig3`, with 1500 steps on the laptop preset: classes"
        " are told apart worse than published. AnInfoNCE keeps more of the VAE's latents and of blur, as in"
        " the paper; its price in classes does not show at this size.",
    ),
)
