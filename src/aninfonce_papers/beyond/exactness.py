"""Ours: which samplers and losses have their optimum at the true Λ, for the true latents and for encoders."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import torch

from aninfonce.extending import global_stream, stream
from aninfonce.losses import AnInfoNCE
from aninfonce.metrics import linear_r2
from aninfonce.processes import process
from aninfonce.training import fit
from aninfonce_papers.engine import trained
from aninfonce_papers.engine.base import ANINFONCE, Cell, Configuration, Metrics, Preset, Published, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

_SAMPLERS = {"exact": "fisher-bingham", "approximate": "approximate-fisher-bingham"}
_LOSSES: dict[str, dict[str, Any]] = {
    "forward": {"candidates": "anchors"},
    "symmetric": {"candidates": "anchors", "symmetric": True},
    "symmetric+β": {"candidates": "anchors", "symmetric": True, "potential": True},
    "as published": {"candidates": "both", "symmetric": True},
}
_TRAINED = ("forward", "symmetric", "symmetric+β")
_TRUTH = (5.0,) * 5 + (25.0,) * 5
_STEPS = {"smoke": 20, "laptop": 1_500, "paper": 6_000}


def cells(preset: Preset) -> list[Cell]:
    """Give every sampler with every loss, at the true latents and with trained encoders."""
    published = {
        "Λ̂ style": Published(5.0, precision=0.05, goal="equal"),
        "Λ̂ content": Published(25.0, precision=0.25, goal="equal"),
    }
    # The closing fits have a loss of their own, and would hide what the cell's leads to.
    sizes = trained.SIZES[preset] if preset == "paper" else {**trained.SIZES[preset], "closing_pairs": 0}
    encoders = [
        Cell(
            f"trained, {sampler}, {loss}",
            {"process": "fig2/25", "sampler": kind, "loss": loss},
            sizes,
            {**published, "R²": Published(1.0, precision=0.01)},
            trained.estimate(preset, sizes, 1.5 if "symmetric" in loss else 1.0),
        )
        for sampler, kind in _SAMPLERS.items()
        for loss in _TRAINED
    ]
    fixed = [
        Cell(
            f"{sampler}, {loss}",
            {"sampler": kind, "loss": loss, "concentration": list(_TRUTH)},
            {"steps": _STEPS[preset], "batch_size": 512},
            published,
            estimate=_STEPS[preset] * (0.02 if "+β" in loss else 0.01),
        )
        for sampler, kind in _SAMPLERS.items()
        for loss in _LOSSES
    ]
    return [*fixed, *encoders]


def run(cell: Cell, seed: int) -> Metrics:
    """Train Λ̂ (and β) alone, from the truth, on true latents, and average its second half; or all at once."""
    settings = cell.configuration
    if "process" in settings:
        return _train_encoder(settings, seed)
    truth = torch.tensor(settings["concentration"])
    conditional = {"kind": settings["sampler"], "concentration": tuple(settings["concentration"])}
    source = process("fig2/25", mixing="identity", conditional=conditional)
    generator = stream(seed, "pairs")
    with global_stream(seed, "weights of β"):
        loss = AnInfoNCE(len(truth), initial=truth, normalize=False, **_LOSSES[settings["loss"]])
    optimizer = torch.optim.Adam(loss.param_groups(lr=3e-3), lr=3e-3, betas=(0.9, 0.99))
    steps = settings["steps"]
    mean = torch.zeros_like(truth)
    for step in range(steps):
        batch = source.sample(settings["batch_size"], generator)
        optimizer.zero_grad()
        loss(batch.z, batch.z_pos).backward()
        optimizer.step()
        if step >= steps // 2:
            mean += loss.concentration.detach() / (steps - steps // 2)
    parts = {name: fmean(mean[list(index)].tolist()) for name, index in source.partitions().items()}
    return {f"Λ̂ {name}": value for name, value in parts.items()}


def _train_encoder(settings: Configuration, seed: int) -> Metrics:
    """Train from scratch."""
    law = {"kind": settings["sampler"], "concentration": _TRUTH}
    source = process(settings["process"], seed, candidates=settings["candidates"], conditional=law)
    options = dict(_LOSSES[settings["loss"]])
    if settings["recipe"] == "paper":
        options["positive_map"] = "softplus"
    loss = {"name": "aninfonce", "options": options}
    config = trained.training_config(settings, seed, space="sphere", loss=loss)
    fitted = fit(source, config)
    assert fitted.concentration is not None
    test = trained.fresh_pairs(source, settings, seed)
    assert test.z is not None
    score = linear_r2(test.z, fitted.embed(test.x), partitions=source.partitions())
    learned = sorted(fitted.concentration.tolist())
    half = len(learned) // 2
    return {
        "Λ̂ style": fmean(learned[:half]),
        "Λ̂ content": fmean(learned[half:]),
        "R²": score.mean,
        **{f"R² {name}": value for name, value in score.per_partition.items()},
    }


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw how far each optimum lies from the truth, in per cent."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["cell"] for row in rows))
    figure = Figure(figsize=(6.0, 0.5 + 0.35 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    for part, colour in (("Λ̂ style", "C0"), ("Λ̂ content", "C1")):
        errors = [
            (row["metrics"][part] / row["published"][part]["value"] - 1.0, names.index(row["cell"]))
            for row in rows
        ]
        axes.plot([100 * e for e, _ in errors], [place for _, place in errors], "o", color=colour, label=part)
    axes.axvline(0.0, color="grey", linewidth=0.8)
    axes.set(yticks=range(len(names)), yticklabels=names, xlabel="Λ̂ above the true Λ, in %")
    axes.invert_yaxis()
    axes.legend()
    return {"optimum": figure}


STUDY = Study(
    name="exactness",
    title="Where each sampler and loss has its optimum, at the true latents and with trained encoders",
    paper=f"Ours, on the setting of {ANINFONCE}",
    source="the true Λ of the process, and perfect recovery; 1 % counts as nothing",
    cells=cells,
    run=run,
    plot=plot,
    reference="truth",
)
