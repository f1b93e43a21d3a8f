"""What all studies share that train an encoder: sizes by preset, the run, and its scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from aninfonce.extending import scaled_rates, stream
from aninfonce.metrics import linear_r2, mean_correlation_coefficient
from aninfonce.processes import DataGeneratingProcess, PairBatch, ProcessSettings, process
from aninfonce.training import Fitted, TrainingConfig, fit
from aninfonce_papers.engine.base import Configuration, Metrics, Preset

# `candidates` is the number of matrices drawn for each layer of the mixing.
SIZES: dict[Preset, Configuration] = {
    "smoke": {
        "recipe": "fast",
        "steps": 30,
        "batch_size": 64,
        "closing_pairs": 2_048,
        "test_pairs": 2_000,
        "candidates": 100,
    },
    "laptop": {
        "recipe": "fast",
        "steps": 2_000,
        "batch_size": 512,
        "closing_pairs": 65_536,
        "test_pairs": 20_000,
        "candidates": 25_000,
    },
    "paper": {
        "recipe": "paper",
        "steps": 100_000,
        "batch_size": 1_000,
        "test_pairs": 61_440,
        "candidates": 25_000,
    },
}
# For 20 latents, where the sizes above are too small: many negatives and high rates bring R² up fastest.
WIDE_SIZES: dict[Preset, Configuration] = {
    "smoke": {**SIZES["smoke"], "grows": False, "whiten": True, "rates": 4.0},
    "laptop": {
        **SIZES["laptop"],
        "steps": 1_500,
        "batch_size": 2_048,
        "closing_pairs": 32_768,
        "grows": False,
        "whiten": True,
        "rates": 4.0,
    },
    "paper": SIZES["paper"],
}
# Seconds of one step on one core, for estimates before there are rows to go by.
STEP_SECONDS: dict[Preset, float] = {"smoke": 0.03, "laptop": 0.02, "paper": 0.2}


def estimate(preset: Preset, settings: Configuration, factor: float = 1.0) -> float:
    """Give rough seconds of one training."""
    return 2.0 + float(settings["steps"]) * STEP_SECONDS[preset] * factor


def train(
    configuration: Configuration, seed: int, *, space: str, loss: Mapping[str, Any]
) -> tuple[DataGeneratingProcess, Fitted]:
    """Draw a mixing, and train an encoder to invert it.

    Args:
        configuration: of the cell, with a `process` and the sizes of `SIZES`.
        seed: of mixing, weights and pairs.
        space: of the embedding.
        loss: settings of the loss, by name.

    Returns:
        The process and what was trained.

    """
    pairs = source(configuration, seed)
    return pairs, fit(pairs, training_config(configuration, seed, space=space, loss=loss))


def source(configuration: Configuration, seed: int) -> DataGeneratingProcess:
    """Build the process of a cell, by name or by its settings; the seed draws the mixing."""
    given, candidates = configuration["process"], configuration["candidates"]
    if isinstance(given, str):
        return process(given, seed, candidates=candidates)
    return ProcessSettings.model_validate({**given, "candidates": candidates}).build(seed)


def training_config(
    configuration: Configuration, seed: int, *, space: str, loss: Mapping[str, Any]
) -> TrainingConfig:
    """Translate a cell's sizes to the settings of a training.

    With the recipe "fast" the batch doubles half-way, unless the cell says `grows: False` or gives its own
    steps of growth; `rates` multiplies all rates, `adam_lr` is one of them by itself, `whiten` decorrelates
    the inputs, and `held` says that the loss keeps the Λ̂ it starts with. No
    `closing_pairs` means no closing fit.
    """
    steps, batch_size = configuration["steps"], configuration["batch_size"]
    recipe: dict[str, Any] = {"name": configuration["recipe"], "steps": steps, "batch_size": batch_size}
    if configuration["recipe"] == "fast":
        pairs = configuration["closing_pairs"]
        grows = configuration.get("grows", True)
        recipe["growth"] = ((0.5, 2 * batch_size),) if grows is True else grows or ()
        recipe["warmup"] = min(50, steps // 4)
        recipe["unfold"] = {"pairs": max(1_000, pairs // 2)} if pairs else {}
        fits = {"pairs": pairs, "concentration_pairs": 2 * pairs, "block": min(1_024, pairs)}
        recipe["close"] = fits if pairs else None
        recipe["whiten"] = configuration.get("whiten", False)
        recipe |= scaled_rates(configuration.get("rates", 1.0))
        if "adam_lr" in configuration:
            recipe["adam_lr"] = configuration["adam_lr"]
        if "held" in configuration:
            # In Rᵈ the scale of the embedding would make up for a fixed Λ̂: the sphere is there at once.
            recipe |= {"concentration_lr": 1e-6, "unfold": None}
    return TrainingConfig.model_validate(
        {
            "recipe": recipe,
            "encoder": "paper-mlp" if configuration["recipe"] == "paper" else "mlp",
            "space": space,
            "loss": dict(loss),
            "seed": seed,
            "log_every": max(10, steps // 40),
            "evaluate_every": max(10, steps // 40),
            "evaluation_pairs": min(4_096, configuration["test_pairs"]),
            "checkpoint_every": 0,
        }
    )


def metric_of_latents(z: Tensor, embedding: Tensor, metric: Tensor) -> Tensor:
    """Express a metric of the embedding in the latents, by the linear map that fits it best: its diagonal.

    Args:
        z: latents (N, d).
        embedding: (N, k).
        metric: M (k, k) or its diagonal (k,), of −½ΔᵀMΔ.

    Returns:
        The diagonal (d,), to compare with Λ; 0 for a latent that the embedding does not hold.

    """
    latents, values, full = z.double(), embedding.double(), metric.double()
    slopes = torch.linalg.lstsq(latents - latents.mean(dim=0), values - values.mean(dim=0)).solution
    full = torch.diag(full) if full.ndim == 1 else full
    diagonal: Tensor = ((slopes @ full) * slopes).sum(dim=1)
    return diagonal


def fresh_pairs(source: DataGeneratingProcess, configuration: Configuration, seed: int) -> PairBatch:
    """Draw pairs that no training saw."""
    return source.sample(configuration["test_pairs"], stream(seed, "test pairs"))


def scores(source: DataGeneratingProcess, fitted: Fitted, configuration: Configuration, seed: int) -> Metrics:
    """R² (fitted on one half, scored on the other) and mean correlation coefficient, in per cent."""
    test = fresh_pairs(source, configuration, seed)
    assert test.z is not None
    embedding = fitted.embed(test.x)
    return {
        "R² [%]": 100.0 * linear_r2(test.z, embedding).mean,
        "MCC [%]": 100.0 * mean_correlation_coefficient(test.z, embedding).mean,
    }


def curves(fitted: Fitted, *names: str) -> Metrics:
    """Take columns of the training's history, where they were measured."""
    rows = [row for row in fitted.history if all(name in row for name in names)]
    found: Metrics = {name: [_rounded(row[name]) for row in rows] for name in names}
    return {"steps": [row["step"] for row in rows], **found}


def _rounded(value: Any) -> Any:
    return [round(v, 4) for v in value] if isinstance(value, list) else round(float(value), 5)
