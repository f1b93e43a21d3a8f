"""Training on augmented views of real images, and what the embedding then holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from pydantic import JsonValue
from torch import Generator, Tensor

from aninfonce.augment import Augmentation, ViewSource, fixed
from aninfonce.datasets import LabelledImages, load_images
from aninfonce.extending import pixel_tensor, stream
from aninfonce.metrics import linear_probe_accuracy, linear_r2
from aninfonce_papers.engine import Experiment, Metrics, Preset, Published, Score, Watch
from aninfonce_papers.rusak2025.images import world

READOUTS = ("crop", "blur")
# Views take longer to make than to learn from, and probes need not see all images.
REAL = {**world.REAL, "laptop": world.RealImages(known=20_000, asked=10_000)}
_EVALUATION_PAIRS = {"smoke": 256, "laptop": 1_024, "paper": 1_024}


class ViewScore(Score):
    """What an encoder that was trained on views kept of plain images and of augmentations.

    Attributes:
        real: images to score on.

    """

    real: world.RealImages

    def augmentation(self) -> Augmentation:
        """Build what makes both views."""
        raise NotImplementedError

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Train on pairs of views; class accuracy, R² of the VAE's latents, and each readout."""
        pairs = experiment.pairs
        assert isinstance(pairs, world.ImagePairs)
        images = load_images(pairs.dataset).images
        fitted = world.train_on(ViewSource(images, self.augmentation(), seed, flat=True), experiment, seed)

        def embed(shown: Tensor) -> Tensor:
            return fitted.embed(shown.flatten(1))

        known, asked = self.real.load(pairs.dataset)
        latents = pairs.vae().encode(asked.images)
        metrics: dict[str, JsonValue] = {
            "class accuracy": self.real.class_accuracy(embed, pairs.dataset),
            "R² of the VAE's latents": linear_r2(latents, embed(pixel_tensor(asked.images))).mean,
        }
        for name in READOUTS:
            metrics[f"{name} readout"] = readout_accuracy(embed, fixed(name), known, asked, seed)
        return metrics


def on_views(
    name: str,
    preset: Preset,
    loss: str,
    score: ViewScore,
    published: dict[str, Published] | None = None,
    *,
    seconds: float,
    steps: int | None = None,
) -> Experiment:
    """Build an experiment on views: as on decoded images, since only the pairs should differ.

    Args:
        name: unique in the study.
        preset: size.
        loss: "InfoNCE" or "AnInfoNCE".
        score: with the augmentation.
        published: values to compare with.
        seconds: rough time of one run.
        steps: of training, if not the preset's.

    Returns:
        The experiment.

    """
    sizes = world.SIZES[preset]
    if preset != "paper":
        sizes = replace(sizes, closing_pairs=0, grows=sizes.grows if preset == "smoke" else False)
    sizes = sizes if steps is None else replace(sizes, steps=steps)
    return Experiment(
        name=name,
        pairs=world.IMAGES[preset],
        encoder=world.ENCODERS[preset],
        loss=world.LOSSES[loss],
        # Real images need not be uniform on the sphere.
        recipe=sizes.build().model_copy(update={"unfold": None, "close": None}),
        watch=Watch(pairs=_EVALUATION_PAIRS[preset]),
        score=score,
        published=published or {},
        judged_if=world.JUDGED_IF,
        seconds=seconds,
    )


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
