"""Training on augmented views of real images, and what the embedding then holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Generator, Tensor

from aninfonce.augment import Augmentation, ViewSource, fixed
from aninfonce.datasets import LabelledImages, load_images
from aninfonce.extending import pixel_tensor, stream
from aninfonce.metrics import linear_probe_accuracy, linear_r2
from aninfonce_papers.engine.base import Configuration, Metrics, Preset
from aninfonce_papers.rusak2025.images import world

LOSSES = ("InfoNCE", "AnInfoNCE")
READOUTS = ("crop", "blur")
# Views take longer to make than to learn from, and probes need not see all images.
_SIZES: dict[Preset, Configuration] = {
    "smoke": {"closing_pairs": 0, "test_pairs": 256, **world.REAL_SIZES["smoke"]},
    "laptop": {
        "steps": 1_500,
        "grows": False,
        "closing_pairs": 0,
        "test_pairs": 1_024,
        "known_images": 20_000,
        "asked_images": 10_000,
    },
    "paper": {"test_pairs": 1_024, **world.REAL_SIZES["paper"]},
}


def sizes(preset: Preset) -> Configuration:
    """Give the settings of a training on views: as on decoded images, since only the pairs should differ."""
    return {**world.sizes(preset, "AnInfoNCE"), **_SIZES[preset]}


def train_and_score(augmentation: Augmentation, settings: Mapping[str, Any], seed: int) -> Metrics:
    """Train an encoder on pairs of views, and measure what it kept of plain images and of augmentations.

    Args:
        augmentation: makes both views.
        settings: with `loss` and those of `sizes`.
        seed: of weights, pairs and probes.

    Returns:
        Class accuracy, R² of the VAE's latents, and the readout of each augmentation.

    """
    images = load_images(settings["dataset"]).images
    source = ViewSource(images, augmentation, seed, flat=True)
    # Real images need not be uniform on the sphere.
    fitted = world.train_on(source, settings, seed, uniform=False)

    def embed(shown: Tensor) -> Tensor:
        return fitted.embed(shown.flatten(1))

    known, asked = world.real_images(settings)
    latents = world.known_vae(settings).encode(asked.images)
    metrics: Metrics = {
        "class accuracy": world.class_accuracy(embed, settings),
        "R² of the VAE's latents": linear_r2(latents, embed(pixel_tensor(asked.images))).mean,
    }
    for name in READOUTS:
        metrics[f"{name} readout"] = readout_accuracy(embed, fixed(name), known, asked, seed)
    return metrics


def readout_accuracy(
    embed: world.Embed, augmentation: Augmentation, known: LabelledImages, asked: LabelledImages, seed: int
) -> float:
    """Read off an embedding, linearly, whether an image was changed; chance is ½.

    Every image is shown once, changed or not by the toss of a coin. The probe learns on `known` images and
    answers for `asked` ones.

    Args:
        embed: from images (N, C, H, W) to embeddings.
        augmentation: that may have been applied.
        known: images to learn from.
        asked: images to answer for.
        seed: of coins and parameters.

    Returns:
        Share of right answers.

    """
    generator = stream(seed, "readout")
    answers: list[Any] = []
    for part in (known, asked):
        shown, changed = shown_once(pixel_tensor(part.images), augmentation, generator)
        answers += [embed(shown), changed]
    return linear_probe_accuracy(*answers).mean


def shown_once(images: Tensor, augmentation: Augmentation, generator: Generator) -> tuple[Tensor, Tensor]:
    """Change half of the images (N, C, H, W), and say which: (N,) booleans."""
    changed = torch.rand(len(images), generator=generator) < 0.5
    shown = images.clone()
    shown[changed] = augmentation(images[changed], generator).images
    return shown, changed
