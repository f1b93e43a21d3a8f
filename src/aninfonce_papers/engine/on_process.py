"""Experiments that train an encoder on a process: their sizes, their pairs, the run, and its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import torch
from pydantic import JsonValue, PositiveInt
from torch import Tensor

from aninfonce.extending import scaled_rates, stream
from aninfonce.metrics import linear_r2, mean_correlation_coefficient
from aninfonce.processes import DataGeneratingProcess, PairBatch, ProcessSettings, process_settings
from aninfonce.training import Closing, Fitted, Recipe, Unfolding, fit
from aninfonce_papers.engine.experiment import Encoder, Experiment, Loss, Pairs, Score, Watch
from aninfonce_papers.engine.published import Published
from aninfonce_papers.engine.row import Metrics, Preset

Growth = tuple[tuple[float, int], ...]


@dataclass(frozen=True)
class Sizes:
    """How large an experiment is; the one place where sizes become a recipe.

    Attributes:
        recipe: the library's "fast" one, or the "paper"'s.
        steps: of training.
        batch_size: pairs of a step.
        test_pairs: fresh ones, to score on.
        candidates: matrices drawn for each layer of the mixing.
        closing_pairs: drawn for the closing fits, and half as many for the map to the sphere; 0 for no
            closing fits.
        grows: whether the batch doubles half-way, or how else it grows.
        whiten: decorrelate the inputs.
        rates: multiplies all rates.
        adam_lr: rate of Adam, in place of the scaled one.
        held: Λ̂ stays where it starts, but for a rate of 1e-6.
        step_seconds: of one step on one core, for estimates before there are rows to go by.

    """

    recipe: Literal["fast", "paper"]
    steps: int
    batch_size: int
    test_pairs: int
    step_seconds: float
    candidates: int = 25_000
    closing_pairs: int = 0
    grows: bool | Growth = True
    whiten: bool = False
    rates: float = 1.0
    adam_lr: float | None = None
    held: bool = False

    def build(self) -> Recipe:
        """Give the recipe."""
        given: dict[str, object] = {"name": self.recipe, "steps": self.steps, "batch_size": self.batch_size}
        if self.recipe == "paper":
            return Recipe.model_validate(given)
        pairs = self.closing_pairs
        fits = Closing(pairs=pairs, concentration_pairs=2 * pairs, block=min(1_024, pairs)) if pairs else None
        growth = ((0.5, 2 * self.batch_size),) if self.grows is True else self.grows or ()
        given |= {
            "growth": growth,
            "warmup": min(50, self.steps // 4),
            "unfold": Unfolding(pairs=max(1_000, pairs // 2)) if pairs else Unfolding(),
            "close": fits,
            "whiten": self.whiten,
            **scaled_rates(self.rates),
        }
        if self.adam_lr is not None:
            given["adam_lr"] = self.adam_lr
        if self.held:
            # In Rᵈ the scale of the embedding would make up for a fixed Λ̂: training starts on the sphere.
            given |= {"concentration_lr": 1e-6, "unfold": None}
        return Recipe.model_validate(given)

    def seconds(self, factor: float = 1.0) -> float:
        """Estimate the seconds of one training."""
        return 2.0 + self.steps * self.step_seconds * factor


SIZES: dict[Preset, Sizes] = {
    "smoke": Sizes("fast", 30, 64, 2_000, 0.03, candidates=100, closing_pairs=2_048),
    "laptop": Sizes("fast", 2_000, 512, 20_000, 0.02, closing_pairs=65_536),
    "paper": Sizes("paper", 100_000, 1_000, 61_440, 0.2),
}
# For 20 latents, where the sizes above are too small: many negatives and high rates bring R² up fastest.
WIDE_SIZES: dict[Preset, Sizes] = {
    "smoke": replace(SIZES["smoke"], grows=False, whiten=True, rates=4.0),
    "laptop": replace(
        SIZES["laptop"],
        steps=1_500,
        batch_size=2_048,
        closing_pairs=32_768,
        grows=False,
        whiten=True,
        rates=4.0,
    ),
    "paper": SIZES["paper"],
}


class ProcessPairs(Pairs):
    """Pairs of a process.

    Attributes:
        process: a preset by name, or its settings.
        candidates: matrices drawn for each layer of the mixing.

    """

    process: str | ProcessSettings
    candidates: PositiveInt = 25_000

    def open(self, seed: int) -> DataGeneratingProcess:
        """Build the process; the seed draws its mixing."""
        if isinstance(self.process, str):
            return process_settings(self.process, candidates=self.candidates).build(seed)
        return self.process.model_copy(update={"candidates": self.candidates}).build(seed)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a training on a process.

    Attributes:
        process: where pairs came from.
        fitted: what was trained on it.
        test: pairs that no training saw.
        seed: of the run.

    """

    process: DataGeneratingProcess
    fitted: Fitted
    test: PairBatch
    seed: int

    @property
    def z(self) -> Tensor:
        """Latents of the test anchors."""
        assert self.test.z is not None
        return self.test.z

    @cached_property
    def embedding(self) -> Tensor:
        """What the encoder makes of the test anchors."""
        return self.fitted.embed(self.test.x)

    @property
    def concentration(self) -> Tensor:
        """Λ̂ of a loss that has one."""
        assert self.fitted.concentration is not None
        return self.fitted.concentration

    def metric_of_latents(self, metric: Tensor) -> Tensor:
        """Express a metric of the embedding in the latents; see the function of that name."""
        return metric_of_latents(self.z, self.embedding, metric)


class ProcessScore(Score):
    """Trains on a process; a subclass says what is measured.

    Attributes:
        test_pairs: fresh ones, to score on.

    """

    test_pairs: PositiveInt

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Train, and measure on fresh pairs."""
        process = process_of(experiment, seed)
        return self.measure(self.train(experiment, process, seed))

    def train(self, experiment: Experiment, process: DataGeneratingProcess, seed: int) -> Outcome:
        """Train on a process."""
        assert experiment.loss is not None
        loss = experiment.loss.module(process.dim, seed)
        fitted = fit(process, experiment.training_config(seed), loss=loss)
        return Outcome(process, fitted, self.fresh(process, seed), seed)

    def fresh(self, process: DataGeneratingProcess, seed: int) -> PairBatch:
        """Draw pairs that no training saw."""
        return process.sample(self.test_pairs, stream(seed, "test pairs"))

    def measure(self, outcome: Outcome) -> Metrics:
        """Measure what was trained."""
        raise NotImplementedError


def process_of(experiment: Experiment, seed: int) -> DataGeneratingProcess:
    """Open the pairs of an experiment on a process."""
    assert isinstance(experiment.pairs, ProcessPairs)
    return experiment.pairs.open(seed)


def on_process(
    name: str,
    process: str | ProcessSettings,
    sizes: Sizes,
    score: ProcessScore,
    published: Mapping[str, Published] | None = None,
    *,
    loss: Loss | None = None,
    space: Literal["sphere", "learnable-sphere", "box", "unbounded"] = "sphere",
    slower: float = 1.0,
) -> Experiment:
    """Build an experiment on a process.

    Args:
        name: unique in the study.
        process: a preset by name, or its settings.
        sizes: of the run.
        score: what is measured.
        published: values to compare with.
        loss: AnInfoNCE if omitted.
        space: of the embedding.
        slower: how many times longer a step takes than with 10 latents.

    """
    return Experiment(
        name=name,
        pairs=ProcessPairs(process=process, candidates=sizes.candidates),
        encoder=Encoder(space=space),
        loss=Loss() if loss is None else loss,
        recipe=sizes.build(),
        watch=Watch(pairs=min(4_096, sizes.test_pairs)),
        score=score,
        published=dict(published or {}),
        seconds=sizes.seconds(slower),
    )


def metric_of_latents(z: Tensor, embedding: Tensor, metric: Tensor) -> Tensor:
    """Express a metric of the embedding in the latents, by the linear map that fits it best: its diagonal.

    M (k, k), or its diagonal (k,), is that of −½ΔᵀMΔ. Gives (d,), to compare with Λ; 0 for a latent that the
    embedding does not hold.
    """
    latents, values, full = z.double(), embedding.double(), metric.double()
    slopes = torch.linalg.lstsq(latents - latents.mean(dim=0), values - values.mean(dim=0)).solution
    full = torch.diag(full) if full.ndim == 1 else full
    diagonal: Tensor = ((slopes @ full) * slopes).sum(dim=1)
    return diagonal


def recovery(z: Tensor, embedding: Tensor) -> dict[str, float]:
    """R² (fitted on one half, scored on the other) and mean correlation coefficient, in per cent."""
    return {
        "R² [%]": 100.0 * linear_r2(z, embedding).mean,
        "MCC [%]": 100.0 * mean_correlation_coefficient(z, embedding).mean,
    }


def curves(fitted: Fitted, *names: str) -> dict[str, JsonValue]:
    """Take columns of the training's history, where they were measured."""
    rows = [row for row in fitted.history if all(name in row for name in names)]
    found: dict[str, JsonValue] = {name: [_rounded(row[name]) for row in rows] for name in names}
    return {"steps": [row["step"] for row in rows], **found}


def rounded(values: Tensor, digits: int = 4) -> list[JsonValue]:
    """Sort numbers and round them, for a results file."""
    return [round(value, digits) for value in sorted(values.tolist())]


def _rounded(value: object) -> JsonValue:
    if isinstance(value, list):
        return [round(entry, 4) for entry in value]
    assert isinstance(value, int | float)
    return round(float(value), 5)
