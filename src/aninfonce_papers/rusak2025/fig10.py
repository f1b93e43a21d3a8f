"""Figure 10: with hard negatives the loss is lowest at Λ̂ = Λ⁺ − Λ⁻ (A), and fine-tuning gains (B)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import torch
from pydantic import PositiveFloat
from scipy.optimize import minimize_scalar
from torch import nn

from aninfonce.distributions import ApproximateFisherBingham, FisherBingham, Uniform
from aninfonce.extending import derive_seed, stream
from aninfonce.losses import AnInfoNCE, info_nce
from aninfonce.metrics import linear_r2
from aninfonce.similarities import Anisotropic
from aninfonce.spaces import Sphere
from aninfonce.training import Recipe, fit
from aninfonce_papers.engine import Experiment, Loss, Metrics, Pairs, Preset, Published, Row, Score, Study
from aninfonce_papers.engine.drawing import new_figure
from aninfonce_papers.engine.on_process import (
    SIZES,
    ProcessPairs,
    ProcessScore,
    curves,
    on_process,
    process_of,
)
from aninfonce_papers.engine.published import ANINFONCE
from aninfonce_papers.rusak2025.batches import laptop_sizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVE = {1: 5.960, 10: 5.768, 30: 5.506, 40: 5.451, 50: 5.437, 60: 5.459, 80: 5.595, 100: 5.831}
BEFORE, AFTER = 0.852, 0.943
_ANCHORS = {"smoke": 100, "laptop": 4_000, "paper": 4_000}
_CHUNK = 500
_SAMPLERS: dict[str, Literal["exact", "approximate"]] = {
    "exact": "exact",
    "authors' sampler": "approximate",
}
# B: the first training is that of Figure 4 B with batches of 250. Steps of both trainings, then pairs of a
# step of each; the paper states none.
_STEPS = {"smoke": (20, 10), "laptop": (1_700, 5_000), "paper": (100_000, 100_000)}
_FIRST_BATCH, _SECOND_BATCH = 250, 1_000
# Rates of the second training, in those of the recipe.
_RATES = 2.0
_CONCENTRATION_RATE = 0.03
# Λ⁺ − Λ⁻, where both second trainings start.
_AT_OPTIMUM = 50.0
_PLAIN = "fig4b/150"
_TUNED = {"B: trained on": _PLAIN, "B: hard negatives": "fig10"}


class HardNegatives(Pairs):
    """Anchors on a sphere with a positive and hard negatives each.

    Attributes:
        sampler: exact, or the authors'.
        dim: of the sphere.
        positive: Λ⁺.
        negative: Λ⁻.
        negatives: of an anchor. The paper does not say how many; ln 400 is where its curve starts at Λ̂ = 0.

    """

    sampler: Literal["exact", "approximate"]
    dim: int = 20
    positive: float = 150.0
    negative: float = 100.0
    negatives: int = 399

    def draw(self, total: int, seed: int) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
        """Draw anchors (n, d), positives (n, d) and negatives (n, k, d), a part at a time."""
        family = FisherBingham if self.sampler == "exact" else ApproximateFisherBingham
        generator = stream(seed, "pairs")
        batches = []
        for start in range(0, total, _CHUNK):
            z = Uniform(Sphere(self.dim)).sample(min(_CHUNK, total - start), generator)
            positive = family(z, torch.full((self.dim,), self.positive)).sample(generator)
            many = z.repeat_interleave(self.negatives, dim=0)
            around = family(many, torch.full((self.dim,), self.negative)).sample(generator)
            batches.append((z, positive, around.view(len(z), self.negatives, self.dim)))
        return batches


class LossCurve(Score):
    """The loss at the true latents over Λ̂, and where it is lowest."""

    anchors: int

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Compute it on the same anchors for all Λ̂."""
        pairs = experiment.pairs
        assert isinstance(pairs, HardNegatives)
        batches = pairs.draw(self.anchors, seed)

        @torch.no_grad()
        def loss(value: float) -> float:
            similarity = Anisotropic(pairs.dim, value)
            values = [
                info_nce(*batch, similarity=similarity, candidates="none", reduction="sum")
                for batch in batches
            ]
            return float(torch.stack(values).sum() / self.anchors)

        found = minimize_scalar(
            lambda value: loss(float(value)), bounds=(1.0, 150.0), method="bounded", options={"xatol": 0.05}
        )
        curve = {f"loss at {value}": loss(float(value)) for value in CURVE}
        return {"optimum": float(found.x), **curve}


class FineTuning(ProcessScore):
    """R² before and after a second training, on the experiment's own pairs.

    Attributes:
        second: how that training goes.
        start: Λ̂ at its start; the first training's if omitted.

    """

    second: Recipe
    start: PositiveFloat | None = None

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Train without hard negatives, then on with the pairs of the experiment."""
        assert isinstance(experiment.pairs, ProcessPairs)
        assert experiment.loss is not None
        plain = experiment.pairs.model_copy(update={"process": _PLAIN}).open(seed)
        pairs = process_of(experiment, seed)
        loss = experiment.loss.module(plain.dim, seed)
        first = fit(plain, experiment.training_config(seed), loss=loss)
        assert first.concentration is not None
        test = self.fresh(plain, seed)
        assert test.z is not None
        before = linear_r2(test.z, first.embed(test.x)).mean
        # The last linear layer stays the last, and the inputs stay whitened: it is the same network.
        encoder = nn.Sequential(first.encoder.inputs, first.encoder.body)
        again = experiment.model_copy(update={"recipe": self.second, "loss": Loss()})
        # Another seed, or it would see the pairs of the first training once more.
        config = again.training_config(derive_seed(seed, "trained on") % 2**31)
        start = first.concentration if self.start is None else self.start
        later = AnInfoNCE(pairs.dim, initial=start, normalize=False, **config.loss.options)
        second = fit(pairs, config, encoder=encoder, loss=later)
        assert second.concentration is not None
        return {
            "R² before": before,
            "R²": linear_r2(test.z, second.embed(test.x)).mean,
            "Λ̂": float(second.concentration.mean()),
            "curves": curves(second, "r2"),
        }


def experiments(preset: Preset) -> list[Experiment]:
    """Give the curve on exact samples, on samples like the authors', and the fine-tuning."""
    n = _ANCHORS[preset]
    # The curve is drawn at steps of 10.
    published = {"optimum": Published(50.0, precision=5.0, goal="equal")}
    for value, loss in CURVE.items():
        # One batch of unknown size: how far it scatters is not known, so there is no verdict.
        published[f"loss at {value}"] = Published(loss, precision=0.003, goal="shown")
    loss_curves = [
        Experiment(
            name=name,
            pairs=HardNegatives(sampler=sampler),
            score=LossCurve(anchors=n),
            published=published,
            seconds=n / 50,
        )
        for name, sampler in _SAMPLERS.items()
    ]
    return [*loss_curves, *_fine_tuning(preset)]


def _fine_tuning(preset: Preset) -> list[Experiment]:
    first, second = _STEPS[preset]
    sizes, loss = replace(SIZES["paper"], steps=first), Loss()
    recipe, start = replace(sizes, steps=second).build(), None
    if preset != "paper":
        sizes, loss = laptop_sizes(preset, _FIRST_BATCH)
        sizes, start = replace(sizes, steps=first), _AT_OPTIMUM
        trained = replace(sizes, steps=second, batch_size=_SECOND_BATCH, rates=_RATES, whiten=False)
        # Λ̂ is trained here, as in the paper.
        recipe = trained.build().model_copy(update={"concentration_lr": _CONCENTRATION_RATE})
    before = {"R² before": Published(BEFORE, precision=0.0005, goal="shown")}
    known = {"fig10": {**before, "R²": Published(AFTER, precision=5e-4)}}
    share = (first + second) / first
    return [
        on_process(
            name,
            pairs,
            sizes,
            FineTuning(test_pairs=sizes.test_pairs, second=recipe, start=start),
            known.get(pairs, before),
            loss=loss,
            slower=share * (2.5 if pairs == "fig10" else 1.0),
        )
        for name, pairs in _TUNED.items()
    ]


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw our curve over the published points, and R² before and after the fine-tuning."""
    figures = {}
    tuned = [row for row in rows if row.cell in _TUNED]
    if len(tuned) < len(rows):
        figures["optimum"] = _draw_curve([row for row in rows if row.cell not in _TUNED])
    if tuned:
        figures["fine-tuning"] = _draw_tuning(tuned)
    return figures


def _draw_curve(rows: Sequence[Row]) -> Figure:
    figure = new_figure(5.0, 3.6)
    axes = figure.add_subplot()
    colours = dict(zip(_SAMPLERS, ("C0", "C2"), strict=True))
    for row in rows:
        ours = [row.number(f"loss at {value}") for value in CURVE]
        axes.plot(list(CURVE), ours, ".-", color=colours[row.cell], alpha=0.6, linewidth=1)
    for name, colour in colours.items():
        axes.plot([], [], ".-", color=colour, label=f"ours, {name}")
    axes.plot(list(CURVE), list(CURVE.values()), "x", color="C1", label="published, one batch")
    axes.axvline(50.0, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xlabel="Λ̂", ylabel="loss", title="Hard negatives: Λ⁺ = 150, Λ⁻ = 100")
    axes.legend()
    return figure


def _draw_tuning(rows: Sequence[Row]) -> Figure:
    """Draw R² while both kinds of further training run."""
    figure = new_figure(5.0, 3.6)
    axes = figure.add_subplot()
    for number, name in enumerate(_TUNED):
        for row in rows:
            if row.cell == name:
                steps, r2 = row.curve("r2")
                axes.plot([0, *steps], [row.number("R² before"), *r2], color=f"C{number}", linewidth=1)
        axes.plot([], [], color=f"C{number}", label=name.removeprefix("B: "))
    for value in (BEFORE, AFTER):
        axes.axhline(value, color="grey", linestyle=":", linewidth=1)
    axes.set(xlabel="further steps", ylabel="R²", title="B (dotted: published, before and after)")
    axes.legend()
    return figure


STUDY = Study(
    name="fig10",
    title="Hard negatives move the optimum to Λ⁺ − Λ⁻ = 50",
    paper=ANINFONCE,
    source="Figure 10, read off the figure; the losses of A are one batch of unknown size and not judged",
    experiments=experiments,
    plot=plot,
    remarks=(
        "B, on the laptop preset: both further trainings start from the network of Figure 4 B with"
        " batches of 250, after 1700 steps, and train Λ̂ from 50 on. Without hard negatives Λ̂ is soon so"
        " large that hardly an anchor is confused with a positive, and R² ends near .85 from wherever it"
        " starts. With them R² is still rising at the end, and Λ̂, far above 50, is not yet that of the"
        " latents. In trials on seed 100, from .82 on, 1500 steps gave .86, at the recipe's rates and at"
        " three times these, where R² fell to .75 first; batches of 400 in place of 1000 pairs gave .82,"
        " with Λ̂ held at 50 too. The paper does not state how long its two trainings are.",
    ),
)
