"""Pairs whose Λ depends on where they start: what one Λ̂ loses on the sphere and in Rᵈ, and what Λ̂(x) wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import torch
from pydantic import JsonValue, PositiveInt
from torch import Tensor

from aninfonce.extending import stream
from aninfonce.losses import AnInfoNCE
from aninfonce.metrics import linear_r2, mean_correlation_coefficient
from aninfonce.processes import DataGeneratingProcess
from aninfonce_papers.beyond.steps_by_place import outside, steps_by_place
from aninfonce_papers.engine import Encoder, Experiment, Loss, Metrics, Pairs, Preset, Row, Study, Watch
from aninfonce_papers.engine.drawing import marks, new_figure
from aninfonce_papers.engine.on_process import SIZES, Outcome, ProcessScore, Sizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Λ in the middle of the cube, for latents of unit variance.
_BASE = (4.0, 8.0, 16.0, 32.0)
_FACTORS = (1.0, 4.0, 16.0)
_KINDS = "two kinds"
_FORCED = "forced onto the sphere"
# Quantiles over the rows between which the spread of Λ̂ is measured.
_LOW, _HIGH = 0.025, 0.975


@dataclass(frozen=True)
class Method:
    """A loss, and where its embedding lives."""

    loss: Loss
    space: Literal["sphere", "flat"]

    @property
    def spare(self) -> int:
        """Columns beyond the number of latents: d columns on a sphere hold d − 1 free factors."""
        return int(self.space == "sphere")


# In Rᵈ the embedding finds its own scale. On the unit sphere Λ̂, or one over the temperature, has to grow to
# tens, and starts there; it is trained like the rest.
_START = 25.0
_COOL: dict[str, JsonValue] = {"temperature": 1 / _START, "learn_temperature": True}
_SHARP: dict[str, JsonValue] = {"initial": _START}
# β comes with flat space.
_METHODS = {
    "InfoNCE": Method(Loss(name="infonce", options=_COOL), "sphere"),
    "AnInfoNCE": Method(Loss(options=_SHARP), "sphere"),
    "AnInfoNCE in Rᵈ + β": Method(Loss(), "flat"),
    "Λ̂(x) in Rᵈ + β": Method(Loss(options={"concentration": "per-anchor"}), "flat"),
}
# Steps that are the same everywhere in flat space are not the same on the sphere that the encoder ends on.
_ON_SPHERE = {
    "AnInfoNCE + β": Method(Loss(options={**_SHARP, "potential": True}), "sphere"),
    "Λ̂(x) + β": Method(Loss(options={**_SHARP, "potential": True, "concentration": "per-anchor"}), "sphere"),
}
_SIZES: dict[Preset, Sizes] = {
    "smoke": replace(SIZES["smoke"], candidates=50, whiten=True),
    "laptop": replace(
        SIZES["laptop"], steps=1_000, candidates=1_000, closing_pairs=16_384, grows=False, whiten=True
    ),
    "paper": SIZES["paper"],
}


class PlacePairs(Pairs):
    """Pairs of `steps_by_place`.

    Attributes:
        base: Λ in the middle of the cube.
        factor: by which Λ changes from one end of the first latent to the other.
        kinds: two kinds of pairs in one stream instead, those of the two ends.
        candidates: matrices drawn for each layer of the mixing.

    """

    base: tuple[float, ...] = _BASE
    factor: float = 1.0
    kinds: bool = False
    candidates: PositiveInt = 1_000

    def open(self, seed: int) -> DataGeneratingProcess:
        """Build the process; the seed draws its mixing."""
        return steps_by_place(self.base, self.factor, seed, kinds=self.kinds, candidates=self.candidates)


class PlaceScore(ProcessScore):
    """R² where anchors are, and outside of that region, by a linear map that was fitted inside."""

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Train, and measure on fresh pairs."""
        assert isinstance(experiment.pairs, PlacePairs)
        return self.measure(self.train(experiment, experiment.pairs.open(seed), seed))

    def measure(self, outcome: Outcome) -> Metrics:
        """Score one training."""
        process, z, e = outcome.process, outcome.z, outcome.embedding
        far = outside(len(z), process.dim, stream(outcome.seed, "outside"))
        with torch.no_grad():
            e_far = outcome.fitted.embed(process.mixing(far))
        found: dict[str, JsonValue] = {
            "R²": linear_r2(z, e).mean,
            "R² outside": r2_elsewhere(z, e, far, e_far),
            "mean correlation": mean_correlation_coefficient(z, e).mean,
        }
        last = [row for row in outcome.fitted.history if "held_out_loss" in row]
        if last:
            found["held-out loss"] = round(float(last[-1]["held_out_loss"]), 5)
        loss = outcome.fitted.loss
        if isinstance(loss, AnInfoNCE):
            with torch.no_grad():
                by_row = loss.concentration_at(e)
            ends = torch.quantile(by_row, torch.tensor([_LOW, _HIGH]), dim=0)
            found["Λ̂ varies by"] = round(float((ends[1] / ends[0]).mean()), 3)
        return found


def r2_elsewhere(z: Tensor, e: Tensor, z_far: Tensor, e_far: Tensor) -> float:
    """Fit a linear map from embeddings e (N, k) to latents z (N, d), and give its mean R² on other rows.

    It is below 0 if the map does worse than the mean of these.

    >>> z, far = torch.randn(100, 2), 3 * torch.randn(50, 2)
    >>> round(r2_elsewhere(z, 2 * z + 1, far, 2 * far + 1), 4)
    1.0
    """
    here, there = (torch.cat([rows, rows.new_ones(len(rows), 1)], dim=1).double() for rows in (e, e_far))
    wrong = there @ torch.linalg.lstsq(here, z.double()).solution - z_far.double()
    spread = z_far.double() - z_far.double().mean(dim=0)
    return float((1 - wrong.square().sum(dim=0) / spread.square().sum(dim=0)).mean())


def experiments(preset: Preset) -> list[Experiment]:
    """Give each method on each kind of steps; where these are alike everywhere, two more on the sphere."""
    candidates = _SIZES[preset].candidates
    worlds = {_world(factor): PlacePairs(factor=factor, candidates=candidates) for factor in _FACTORS}
    worlds[_KINDS] = PlacePairs(factor=_FACTORS[-1], kinds=True, candidates=candidates)
    found = [
        _experiment(f"{world}: {name}", pairs, method, preset)
        for world, pairs in worlds.items()
        for name, method in _METHODS.items()
    ]
    still = worlds[_world(1.0)]
    return found + [
        _experiment(f"{_FORCED}: {name}", still, method, preset) for name, method in _ON_SPHERE.items()
    ]


def _world(factor: float) -> str:
    return f"Λ × {factor:g}"


def _experiment(name: str, pairs: PlacePairs, method: Method, preset: Preset) -> Experiment:
    sizes = _SIZES[preset]
    recipe = sizes.build()
    if method.space == "sphere":
        # The steps from Rᵈ onto the sphere, and the fits there, assume anchors that are uniform on one.
        recipe = recipe.model_copy(update={"unfold": None, "close": None})
    return Experiment(
        name=name,
        pairs=pairs,
        encoder=Encoder(space=method.space, dim=len(pairs.base) + method.spare),
        loss=method.loss,
        recipe=recipe,
        watch=Watch(evaluations=4, pairs=min(4_096, sizes.test_pairs)),
        score=PlaceScore(test_pairs=sizes.test_pairs),
        seconds=sizes.seconds(0.4),
    )


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² inside and outside over how much Λ changes, a colour for each method."""
    figure = new_figure(9.0, 3.6)
    worlds = [*map(_world, _FACTORS), _KINDS]
    for axes, metric in zip(figure.subplots(1, 2, sharey=True), ("R²", "R² outside"), strict=True):
        for number, name in enumerate(_METHODS):
            places = {f"{world}: {name}": place + 0.1 * (number - 1.5) for place, world in enumerate(worlds)}
            marks(axes, rows, places, metric, color=f"C{number}", alpha=0.7, label=name)
        axes.set(ylabel=metric, xticks=range(len(worlds)), xticklabels=worlds)
    figure.axes[0].legend()
    return {"heteroscedastic": figure}


STUDY = Study(
    name="heteroscedastic",
    title="Steps that depend on where they start: one Λ̂, and one for each anchor",
    paper="Ours: four latents in a cube behind the papers' mixing, after the criticism of arXiv 2602.02381",
    source="none",
    experiments=experiments,
    plot=plot,
    remarks=(
        "“Λ × 16”: from one end of the first latent to the other, Λ of the first and third rises by a factor "
        "of 16, that of the second and fourth falls; positives are drawn from that law exactly. “Two kinds”: "
        "each pair has the Λ of one end or the other, by the toss of a coin, wherever it starts: no function "
        "of the anchor knows which.",
        "InfoNCE and AnInfoNCE live on a sphere of one column more than there are latents, in Rᵈ a candidate "
        "potential β goes along. R² outside: anchors are uniform in a cube; the linear map that is fitted in "
        "it is read off in a cube of 1.5 times the edge, less the first.",
        "“Forced onto the sphere”: steps are alike everywhere in the flat space of the latents, and cannot "
        "be on the sphere that the encoder ends on.",
    ),
)
