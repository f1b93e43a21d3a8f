"""Figure 5: the conditionals of two anchors on a sphere, with and without overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from aninfonce.distributions import FisherBingham
from aninfonce.extending import stream
from aninfonce_papers.engine import Experiment, Metrics, Pairs, Preset, Row, Score, Study
from aninfonce_papers.engine.drawing import new_figure
from aninfonce_papers.engine.published import ANINFONCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SAMPLES = {"smoke": 2_000, "laptop": 200_000, "paper": 200_000}
# The paper's picture has no numbers. These show its two cases: Λ per axis, and the angle between anchors.
_CONCENTRATIONS = {"large Λ": (60.0, 60.0, 150.0), "small Λ": (3.0, 3.0, 8.0)}


class TwoAnchors(Pairs):
    """The conditionals of two anchors on a sphere.

    Attributes:
        concentration: Λ.
        degrees: between the anchors.

    """

    concentration: tuple[float, ...]
    degrees: float = 60.0

    def laws(self, n: int) -> tuple[FisherBingham, FisherBingham]:
        """Place the conditional at both anchors, n times each."""
        half = torch.deg2rad(torch.tensor(self.degrees / 2, dtype=torch.float64))
        diagonal = torch.tensor(self.concentration, dtype=torch.float64)
        # Both on the side of the sphere that the plot shows, about its middle and along a great circle.
        middle, aside = (torch.tensor(part, dtype=torch.float64) for part in ((1, -1, 1), (1, 1, 0)))

        def law(angle: Tensor) -> FisherBingham:
            anchor = angle.cos() * middle / middle.norm() + angle.sin() * aside / aside.norm()
            return FisherBingham(anchor.expand(n, 3), diagonal)

        return law(-half), law(half)


class Overlap(Score):
    """The overlap ∫ min(p(x|a), p(x|b)) dx of two anchors' conditionals: 1 alike, 0 disjoint."""

    samples: int

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Estimate it."""
        assert isinstance(experiment.pairs, TwoAnchors)
        x = experiment.pairs.laws(self.samples)[0].sample(stream(seed, "samples"))
        # One anchor each: the normaliser is the same for all samples.
        here, there = experiment.pairs.laws(1)
        ratio = there.log_prob(x[:, None]) - here.log_prob(x[:, None])
        return {"overlap": float(ratio.clamp(max=0.0).exp().mean())}


def experiments(preset: Preset) -> list[Experiment]:
    """Give a large and a small concentration."""
    n = _SAMPLES[preset]
    return [
        Experiment(
            name=name,
            pairs=TwoAnchors(concentration=values),
            score=Overlap(samples=n),
            seconds=0.1 + n / 200_000,
        )
        for name, values in _CONCENTRATIONS.items()
    ]


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw samples around both anchors, for each concentration."""
    shown = {row.cell: row for row in rows}
    figure = new_figure(4.2 * len(shown), 4.2)
    for place, (name, row) in enumerate(shown.items(), start=1):
        axes = figure.add_subplot(1, len(shown), place, projection="3d")
        laws = TwoAnchors(concentration=_CONCENTRATIONS[name]).laws(400)
        for law, colour in zip(laws, ("C0", "C1"), strict=True):
            x = law.sample(stream(0, "figure")).numpy()
            axes.scatter(x[:, 0], x[:, 1], x[:, 2], s=4, color=colour, alpha=0.5, rasterized=True)
        axes.set_title(f"{name}: overlap {row.number('overlap'):.2f}")
        axes.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1), xticks=(), yticks=(), zticks=())
        axes.set_box_aspect((1, 1, 1))
        axes.view_init(elev=30, azim=-60)
    return {"conditionals": figure}


STUDY = Study(
    name="fig5",
    title="Conditionals of two anchors on a sphere: concentration decides their overlap",
    paper=ANINFONCE,
    source="Figure 5, a picture without numbers",
    experiments=experiments,
    plot=plot,
)
