"""The trade-off between classes and what varies, over kind and strength of augmentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aninfonce.augment import Augmentation, Blur, Compose, Crop, Flip
from aninfonce_papers.engine import Experiment, Preset, Row, Study
from aninfonce_papers.engine.drawing import marks, new_figure
from aninfonce_papers.engine.published import ANINFONCE
from aninfonce_papers.rusak2025.images import views, world

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("crop", "blur", "crop, flip and blur")
# Of SimCLR's ranges, 1 being all of them.
STRENGTHS = (0.25, 0.5, 1.0)
METRICS = ("class accuracy", "R² of the VAE's latents", "crop readout", "blur readout")
_STEPS: dict[Preset, int] = {"smoke": 20, "laptop": 500, "paper": 20_000}
_SECONDS: dict[Preset, float] = {"smoke": 2.0, "laptop": 60.0, "paper": 4_000.0}


class ViewsOfKind(views.ViewScore):
    """Views of one kind and strength, measured as `mnist-augmentations` does."""

    kind: str
    strength: float

    def augmentation(self) -> Augmentation:
        """Build them."""
        return augmentation(self.kind, self.strength)


def experiments(preset: Preset) -> list[Experiment]:
    """Give both losses with each kind at each strength."""
    real = views.REAL[preset]
    return [
        views.on_views(
            _name(loss, kind, strength),
            preset,
            loss,
            ViewsOfKind(real=real, kind=kind, strength=strength),
            seconds=_SECONDS[preset],
            steps=_STEPS[preset],
        )
        for kind in KINDS
        for strength in STRENGTHS
        for loss in world.LOSSES
    ]


def _name(loss: str, kind: str, strength: float) -> str:
    return f"{loss}, {kind} × {strength:g}"


def augmentation(kind: str, strength: float) -> Augmentation:
    """Build one kind of augmentation.

    A strength of 1 has SimCLR's ranges; less makes the smallest crop larger and the widest blur narrower.

    >>> augmentation("crop", 0.5).area
    (0.6, 1.0)
    """
    crop = Crop(area=(round(1.0 - 0.8 * strength, 6), 1.0))
    blur = Blur(sigma=(0.1, 2.0 * strength), p=0.5)
    if kind == "crop":
        return crop
    return blur if kind == "blur" else Compose([crop, Flip(p=0.5), blur])


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw each score over the strength: a colour for each kind, lines for AnInfoNCE, dashes for InfoNCE."""
    figure = new_figure(9.0, 6.0)
    panels = figure.subplots(2, 2).flat
    for axes, metric in zip(panels, METRICS, strict=True):
        for number, kind in enumerate(KINDS):
            for loss, line in (("AnInfoNCE", "o-"), ("InfoNCE", "s--")):
                places = {_name(loss, kind, strength): strength for strength in STRENGTHS}
                style = {"marker": line[0], "linestyle": line[1:], "color": f"C{number}", "markersize": 4}
                marks(axes, rows, places, metric, label=f"{loss}, {kind}", **style)
        axes.set(xlabel="strength (1: SimCLR's)", title=metric)
    figure.axes[0].legend(fontsize=6)
    return {"trade-off": figure}


STUDY = Study(
    name="augmentation-strength",
    title="Classes against what varies, by kind and strength of augmentation",
    paper=f"Ours, after Appendix G of {ANINFONCE}",
    source="nothing: the paper has one strength",
    experiments=experiments,
    plot=plot,
)
