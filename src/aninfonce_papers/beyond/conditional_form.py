"""Ours: positives that break the assumed form, and what each loss makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from aninfonce.extending import FORMS, global_stream
from aninfonce.losses import AnInfoNCE, InfoNCE
from aninfonce.metrics import linear_r2
from aninfonce.similarities import Anisotropic, FullAnisotropic
from aninfonce.training import fit
from aninfonce_papers.engine import trained
from aninfonce_papers.engine.base import Cell, Configuration, Metrics, Preset, Published, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

METHODS = ("InfoNCE", "AnInfoNCE", "full metric", "AnInfoNCE+β")
# Large enough that the projection onto the sphere changes the form little.
_TRUTH = {"style": 25.0, "content": 100.0}
_PARTS = {"style": tuple(range(5)), "content": tuple(range(5, 10))}
_STEPS = {"smoke": 30, "laptop": 1_500, "paper": 100_000}


def cells(preset: Preset) -> list[Cell]:
    """Give every form with every loss."""
    sizes = {**trained.SIZES[preset], "steps": _STEPS[preset]}
    diagonal = [_TRUTH[part] for part, index in _PARTS.items() for _ in index]
    known = {f"Λ̂ {part}": Published(value, goal="shown") for part, value in _TRUTH.items()}
    return [
        Cell(
            f"{form}, {method}",
            {"process": _process(form, diagonal), "form": form, "method": method},
            sizes,
            known,
            trained.estimate(preset, sizes, 1.0 if method == "AnInfoNCE+β" else 0.7),
        )
        for form in FORMS
        for method in METHODS
    ]


def _process(form: str, diagonal: Sequence[float]) -> Configuration:
    law = {"kind": "shaped", "form": form, "concentration": list(diagonal)}
    return {"space": "sphere", "dim": len(diagonal), "conditional": law}


def run(cell: Cell, seed: int) -> Metrics:
    """Train one loss on one form; R² of style and content, and Λ̂ in the scale of the latents."""
    settings = cell.configuration
    source = trained.source(settings, seed)
    with global_stream(seed, "weights of β"):
        loss = _loss(settings["method"], source.dim)
    # All but InfoNCE, which needs the sphere, stay in Rᵈ: alike for all metrics, and nothing folds there.
    sphere = settings["method"] == "InfoNCE" or settings["recipe"] == "paper"
    space = "sphere" if sphere else "unbounded"
    config = trained.training_config(settings, seed, space=space, loss={"name": "custom"})
    fitted = fit(source, config, loss=loss)
    test = trained.fresh_pairs(source, settings, seed)
    assert test.z is not None
    embedding = fitted.embed(test.x)
    score = linear_r2(test.z, embedding, partitions=_PARTS)
    found = trained.metric_of_latents(test.z, embedding, _metric(loss, source.dim)).tolist()
    metrics: Metrics = {f"Λ̂ {part}": fmean(found[i] for i in index) for part, index in _PARTS.items()}
    return {"R²": score.mean, **score.per_partition, **metrics, "curves": trained.curves(fitted, "r2")}


def _loss(method: str, dim: int) -> InfoNCE:
    if method == "InfoNCE":
        # A trained temperature: one concentration for all latents.
        return InfoNCE(learn_temperature=True, normalize=False)
    if method == "full metric":
        return InfoNCE(FullAnisotropic(dim), normalize=False)
    return AnInfoNCE(dim, potential=method.endswith("β"), normalize=False)


@torch.no_grad()
def _metric(loss: InfoNCE, dim: int) -> Tensor:
    """Read M of −½ΔᵀMΔ off a loss: (d, d), or its diagonal."""
    if isinstance(loss.similarity, FullAnisotropic | Anisotropic):
        return loss.similarity.concentration
    # On the unit sphere zᵀz′/τ is −½|Δ|²/τ, but for a constant.
    return torch.as_tensor(loss.temperature).reciprocal().expand(dim)


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² of style and content, and Λ̂ relative to one over the variance, for each form and loss."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    panels = figure.subplots(1, 2)
    for number, method in enumerate(METHODS):
        mine = [row for row in rows if row["configuration"]["method"] == method]
        places = [FORMS.index(row["configuration"]["form"]) + 0.18 * (number - 1.5) for row in mine]
        for part, mark in (("style", "s"), ("content", "o")):
            values = [row["metrics"][part] for row in mine]
            panels[0].plot(places, values, mark, color=f"C{number}", alpha=0.7)
            ratios = [row["metrics"][f"Λ̂ {part}"] / _TRUTH[part] for row in mine]
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
    cells=cells,
    run=run,
    plot=plot,
    reference="1/variance",
)
