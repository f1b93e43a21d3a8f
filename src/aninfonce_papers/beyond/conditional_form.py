"""Ours: positives that break the assumed form, and what each loss makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Literal, get_args

import torch
from torch import Tensor

from aninfonce.extending import FORMS, global_stream
from aninfonce.losses import AnInfoNCE, InfoNCE
from aninfonce.metrics import linear_r2
from aninfonce.processes import ProcessSettings
from aninfonce.similarities import Anisotropic, FullAnisotropic
from aninfonce_papers.engine import Experiment, Loss, Metrics, Preset, Published, Row, Study
from aninfonce_papers.engine.drawing import new_figure
from aninfonce_papers.engine.on_process import SIZES, Outcome, ProcessScore, curves, on_process

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Method = Literal["InfoNCE", "AnInfoNCE", "full metric", "AnInfoNCE+β"]
METHODS: tuple[Method, ...] = get_args(Method)
# Large enough that the projection onto the sphere changes the form little.
_TRUTH = {"style": 25.0, "content": 100.0}
_PARTS = {"style": tuple(range(5)), "content": tuple(range(5, 10))}
_STEPS = {"smoke": 30, "laptop": 1_500, "paper": 100_000}


class MethodLoss(Loss):
    """One of four losses with more or less freedom for the metric within pairs."""

    name: str = "custom"
    method: Method

    def module(self, dim: int, seed: int) -> InfoNCE:
        """Build it."""
        with global_stream(seed, "weights of β"):
            if self.method == "InfoNCE":
                # A trained temperature: one concentration for all latents.
                return InfoNCE(learn_temperature=True, normalize=False)
            if self.method == "full metric":
                return InfoNCE(FullAnisotropic(dim), normalize=False)
            return AnInfoNCE(dim, potential=self.method == "AnInfoNCE+β", normalize=False)


class StyleAndContent(ProcessScore):
    """R² of style and content, and Λ̂ in the scale of the latents."""

    def measure(self, outcome: Outcome) -> Metrics:
        """Score one training."""
        assert isinstance(outcome.fitted.loss, InfoNCE)
        score = linear_r2(outcome.z, outcome.embedding, partitions=_PARTS)
        found = outcome.metric_of_latents(_metric(outcome.fitted.loss, outcome.process.dim)).tolist()
        learned = {f"Λ̂ {part}": fmean(found[i] for i in index) for part, index in _PARTS.items()}
        traced = curves(outcome.fitted, "r2")
        return {"R²": score.mean, **score.per_partition, **learned, "curves": traced}


def experiments(preset: Preset) -> list[Experiment]:
    """Give every form with every loss."""
    sizes = replace(SIZES[preset], steps=_STEPS[preset])
    diagonal = [_TRUTH[part] for part, index in _PARTS.items() for _ in index]
    known = {f"Λ̂ {part}": Published(value, goal="shown") for part, value in _TRUTH.items()}
    grid = []
    for form in FORMS:
        law = {"kind": "shaped", "form": form, "concentration": diagonal}
        settings = {"space": "sphere", "dim": len(diagonal), "conditional": law}
        for method in METHODS:
            # All but InfoNCE, which needs the sphere, stay in Rᵈ: fair to all metrics, and nothing folds.
            sphere = method == "InfoNCE" or preset == "paper"
            grid.append(
                on_process(
                    f"{form}, {method}",
                    ProcessSettings.model_validate(settings),
                    sizes,
                    StyleAndContent(test_pairs=sizes.test_pairs),
                    known,
                    loss=MethodLoss(method=method),
                    space="sphere" if sphere else "unbounded",
                    slower=1.0 if method == "AnInfoNCE+β" else 0.7,
                )
            )
    return grid


@torch.no_grad()
def _metric(loss: InfoNCE, dim: int) -> Tensor:
    """Read M of −½ΔᵀMΔ off a loss: (d, d), or its diagonal."""
    if isinstance(loss.similarity, FullAnisotropic | Anisotropic):
        return loss.similarity.concentration
    # On the unit sphere zᵀz′/τ is −½|Δ|²/τ, but for a constant.
    return torch.as_tensor(loss.temperature).reciprocal().expand(dim)


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² of style and content, and Λ̂ relative to one over the variance, for each form and loss."""
    figure = new_figure(9.0, 3.8)
    panels = figure.subplots(1, 2)
    for number, method in enumerate(METHODS):
        forms = {f"{form}, {method}": place for place, form in enumerate(FORMS)}
        mine = [row for row in rows if row.cell in forms]
        places = [forms[row.cell] + 0.18 * (number - 1.5) for row in mine]
        for part, mark in (("style", "s"), ("content", "o")):
            values = [row.number(part) for row in mine]
            panels[0].plot(places, values, mark, color=f"C{number}", alpha=0.7)
            ratios = [row.number(f"Λ̂ {part}") / _TRUTH[part] for row in mine]
            panels[1].plot(places, ratios, mark, color=f"C{number}", alpha=0.7)
        panels[0].plot([], [], "s", color=f"C{number}", label=method)
    panels[1].plot([], [], "s", color="grey", label="style")
    panels[1].plot([], [], "o", color="grey", label="content")
    panels[1].axhline(1.0, color="grey", linewidth=0.8)
    for axes, label in zip(panels, ("R²", "Λ̂ · variance of the step"), strict=True):
        axes.set(xticks=range(len(FORMS)), ylabel=label)
        axes.set_xticklabels(FORMS, rotation=20)
        axes.legend(fontsize=8)
    return {"forms": figure}


STUDY = Study(
    name="conditional-form",
    title="Positives that break the assumed form",
    paper="Ours: bimodal, heavy-tailed, skewed and correlated steps within pairs",
    source="one over the variance of the step, which is Λ where the form is normal",
    experiments=experiments,
    plot=plot,
    reference="1/variance",
)
