"""One cell: train a network on views, or take it as it is, and probe it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from aninfonce.datasets import LabelledImages, load_images
from aninfonce.losses import AnInfoNCE
from aninfonce.training import Fitted, TrainingConfig, fit
from aninfonce_papers.engine.base import Cell, Configuration, Metrics
from aninfonce_papers.engine.scratch import scratch_folder
from aninfonce_papers.rusak2025.simclr.network import Network, build_network
from aninfonce_papers.rusak2025.simclr.objectives import UNTRAINED, build_loss, build_source
from aninfonce_papers.rusak2025.simclr.probes import logistic_probe, measure, sgd_probe

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def run(cell: Cell, seed: int) -> Metrics:
    """Train and probe one cell, on as many devices as it names."""
    from lightning_fabric import Fabric

    configuration, folder = cell.configuration, scratch_folder()
    devices = configuration.get("devices", 1)
    # Processes of their own rather than copies of this command: a sweep has started already.
    fabric = Fabric(accelerator="auto", devices=devices, strategy="ddp_spawn" if devices > 1 else "auto")
    found: Metrics = fabric.launch(train_and_probe, configuration, seed, folder)  # type: ignore[arg-type]
    return found


def train_and_probe(fabric: Fabric, configuration: Configuration, seed: int, folder: Path | None) -> Metrics:
    """Do the work of one process.

    Args:
        fabric: launched.
        configuration: of the cell.
        seed: of images, weights and views.
        folder: for checkpoints, from which a run that was killed goes on; None for none.

    Returns:
        The results, on the first process; nothing on the others.

    """
    train = _part(configuration, "train", configuration["images"], seed)
    network = build_network(configuration, train.shape[0], seed)
    found: Metrics = {}
    if configuration["method"] != UNTRAINED:
        fitted = _train(fabric, configuration, seed, folder, train, network)
        found = {"loss": _curve(fitted), **_concentration(fitted)}
    if not fabric.is_global_zero:
        return {}
    probe = sgd_probe if configuration["recipe"] == "paper" else logistic_probe
    test = _part(configuration, "test", configuration["test_images"], seed)
    return {**measure(network.to(fabric.device), train, test, probe=probe, seed=seed), **found}


def _part(configuration: Configuration, split: str, n: int, seed: int) -> LabelledImages:
    """Open a split: some of its images in memory, or all of them as they lie on disk."""
    whole = load_images(configuration["data"], split, size=configuration.get("size", 32))
    return whole if n >= len(whole) else whole.take(n, seed)


def _train(
    fabric: Fabric,
    configuration: Configuration,
    seed: int,
    folder: Path | None,
    train: LabelledImages,
    network: Network,
) -> Fitted:
    shard = (fabric.global_rank, fabric.world_size)
    encoder: torch.nn.Module = network
    if fabric.world_size > 1 and fabric.device.type == "cuda":
        encoder = torch.nn.SyncBatchNorm.convert_sync_batchnorm(network)  # type: ignore[no-untyped-call]
    return fit(
        build_source(configuration, train.images, seed, shard),
        training_config(configuration, len(train), network.out_features, seed),
        encoder=encoder,
        loss=build_loss(configuration, seed),
        directory=folder,
        resume=True,
        fabric=fabric,
    )


def training_config(configuration: Configuration, images: int, dim: int, seed: int) -> TrainingConfig:
    """Translate a cell's sizes to the settings of a training.

    Args:
        configuration: of the cell.
        images: that there are to train on.
        dim: columns that the loss sees.
        seed: of the run.

    Returns:
        The settings.

    """
    batch_size = configuration["batch_size"]
    epoch = max(1, images // batch_size)
    steps = configuration["epochs"] * epoch
    recipe: dict[str, Any] = {
        "steps": steps,
        "batch_size": batch_size,
        "growth": (),
        "warmup": min(configuration["warmup_epochs"] * epoch, steps // 2),
        "decay": "cosine",
        "unfold": None,
        "close": None,
    }
    if configuration["recipe"] == "paper":
        recipe |= {"optimizer": "lars", "lars_lr": 0.3 * batch_size / 256, "concentration_lr": 1e-3}
    else:
        recipe |= {"muon_lr": configuration["muon_lr"], "adam_lr": configuration["adam_lr"]}
        recipe["concentration_lr"] = configuration["concentration_lr"]
    return TrainingConfig.model_validate(
        {
            "dim": dim,
            "space": "unbounded",
            "recipe": recipe,
            "seed": seed,
            "log_every": max(1, steps // 40),
            "evaluate_every": 0,
            "evaluation_pairs": 256,
            # The table is of encoders that were trained on all images; probes have test images.
            "held_out": 0.0,
            "checkpoint_every": max(1, min(100, steps // 4)),
        }
    )


def _curve(fitted: Fitted) -> Metrics:
    rows = fitted.history
    return {"steps": [row["step"] for row in rows], "value": [round(row["loss"], 4) for row in rows]}


def _concentration(fitted: Fitted) -> Metrics:
    """Give every Λ̂ of the loss, sorted."""
    found = [
        [round(value, 4) for value in sorted(part.concentration.tolist())]
        for part in fitted.loss.modules()
        if isinstance(part, AnInfoNCE)
    ]
    return {"Λ̂": found} if found else {}
