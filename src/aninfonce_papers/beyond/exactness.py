"""Ours: which samplers and losses have their optimum at the true Λ, for the true latents and for encoders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import torch
from pydantic import JsonValue

from aninfonce.extending import global_stream, stream
from aninfonce.losses import AnInfoNCE
from aninfonce.metrics import linear_r2
from aninfonce.processes import process_settings
from aninfonce_papers.engine import Experiment, Loss, Metrics, Preset, Published, Row, Score, Study
from aninfonce_papers.engine.drawing import new_figure
from aninfonce_papers.engine.on_process import (
    SIZES,
    Outcome,
    ProcessPairs,
    ProcessScore,
    on_process,
    process_of,
)
from aninfonce_papers.engine.published import ANINFONCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SAMPLERS = {"exact": "fisher-bingham", "approximate": "approximate-fisher-bingham"}
_LOSSES: dict[str, dict[str, JsonValue]] = {
    "forward": {"candidates": "anchors"},
    "symmetric": {"candidates": "anchors", "symmetric": True},
    "symmetric+β": {"candidates": "anchors", "symmetric": True, "potential": True},
    "as published": {"candidates": "both", "symmetric": True},
}
_TRAINED = ("forward", "symmetric", "symmetric+β")
_TRUTH = (5.0,) * 5 + (25.0,) * 5
_STEPS = {"smoke": 20, "laptop": 1_500, "paper": 6_000}


class ConcentrationAlone(Score):
    """Λ̂ (and β) trained alone on true latents, from the truth on; averaged over the second half.

    Attributes:
        steps: of training.
        batch_size: pairs of a step.

    """

    steps: int
    batch_size: int = 512

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Train Λ̂."""
        assert experiment.loss is not None
        source = process_of(experiment, seed)
        truth = torch.tensor(_TRUTH)
        generator = stream(seed, "pairs")
        options: dict[str, Any] = dict(experiment.loss.options)
        with global_stream(seed, "weights of β"):
            loss = AnInfoNCE(len(truth), initial=truth, normalize=False, **options)
        optimizer = torch.optim.Adam(loss.param_groups(lr=3e-3), lr=3e-3, betas=(0.9, 0.99))
        mean, half = torch.zeros_like(truth), self.steps // 2
        for step in range(self.steps):
            batch = source.sample(self.batch_size, generator)
            optimizer.zero_grad()
            loss(batch.z, batch.z_pos).backward()
            optimizer.step()
            if step >= half:
                mean += loss.concentration.detach() / (self.steps - half)
        parts = source.partitions()
        return {f"Λ̂ {name}": fmean(mean[list(index)].tolist()) for name, index in parts.items()}


class TrainedConcentration(ProcessScore):
    """Λ̂ and R² of an encoder that was trained from scratch."""

    def measure(self, outcome: Outcome) -> Metrics:
        """Score one training."""
        score = linear_r2(outcome.z, outcome.embedding, partitions=outcome.process.partitions())
        learned = sorted(outcome.concentration.tolist())
        half = len(learned) // 2
        return {
            "Λ̂ style": fmean(learned[:half]),
            "Λ̂ content": fmean(learned[half:]),
            "R²": score.mean,
            **{f"R² {name}": value for name, value in score.per_partition.items()},
        }


def experiments(preset: Preset) -> list[Experiment]:
    """Give every sampler with every loss, at the true latents and with trained encoders."""
    published = {
        "Λ̂ style": Published(5.0, precision=0.05, goal="equal"),
        "Λ̂ content": Published(25.0, precision=0.25, goal="equal"),
    }
    sizes = SIZES[preset]
    if preset != "paper":
        # The closing fits have a loss of their own, and would hide what the experiment's leads to.
        sizes = replace(sizes, closing_pairs=0)
    laws = {name: {"kind": kind, "concentration": _TRUTH} for name, kind in _SAMPLERS.items()}
    encoders = [
        on_process(
            f"trained, {sampler}, {loss}",
            process_settings("fig2/25", conditional=law),
            sizes,
            TrainedConcentration(test_pairs=sizes.test_pairs),
            {**published, "R²": Published(1.0, precision=0.01)},
            loss=Loss(options=_LOSSES[loss]),
            slower=1.5 if "symmetric" in loss else 1.0,
        )
        for sampler, law in laws.items()
        for loss in _TRAINED
    ]
    fixed = [
        Experiment(
            name=f"{sampler}, {loss}",
            pairs=ProcessPairs(process=process_settings("fig2/25", mixing="identity", conditional=law)),
            loss=Loss(options=options),
            score=ConcentrationAlone(steps=_STEPS[preset]),
            published=published,
            seconds=_STEPS[preset] * (0.02 if "+β" in loss else 0.01),
        )
        for sampler, law in laws.items()
        for loss, options in _LOSSES.items()
    ]
    return [*fixed, *encoders]


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw how far each optimum lies from the truth, in per cent."""
    names = list(dict.fromkeys(row.cell for row in rows))
    figure = new_figure(6.0, 0.5 + 0.35 * len(names))
    axes = figure.add_subplot()
    for part, colour in (("Λ̂ style", "C0"), ("Λ̂ content", "C1")):
        errors = [(row.number(part) / row.published[part].value - 1.0, names.index(row.cell)) for row in rows]
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
    experiments=experiments,
    plot=plot,
    reference="truth",
)
