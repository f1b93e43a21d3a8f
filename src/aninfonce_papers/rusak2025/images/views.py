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
from aninfonce.metrics import knn_accuracy, linear_probe_accuracy, linear_r2
from aninfonce.training import Recipe
from aninfonce_papers.engine import Experiment, Metrics, Preset, Published, Score, Watch
from aninfonce_papers.engine.on_process import rounded
from aninfonce_papers.rusak2025.images import world

READOUTS = ("crop", "blur")
# Views take longer to make than to learn from, and probes need not see all images.
REAL = {**world.REAL, "laptop": world.RealImages(known=20_000, asked=10_000)}
# τ of the paper's networks on real images; it states none for MNIST.
TEMPERATURE = 0.5
# Steps, pairs of each, and width of the encoder.
_CONVOLUTIONS: dict[Preset, tuple[int, int, int]] = {"smoke": (20, 64, 8), "laptop": (1_000, 256, 16)}
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
        pairs, encoder = experiment.pairs, experiment.encoder
        assert isinstance(pairs, world.ImagePairs)
        assert isinstance(encoder, world.ImageEncoder)
        flat = encoder.flat
        images = load_images(pairs.dataset).images
        fitted = world.train_on(ViewSource(images, self.augmentation(), seed, flat=flat), experiment, seed)

        def embed(shown: Tensor) -> Tensor:
            return fitted.embed(shown.flatten(1) if flat else shown)

        known, asked = self.real.load(pairs.dataset)
        latents = pairs.vae().encode(asked.images)
        plain = [embed(pixel_tensor(part.images)) for part in (known, asked)]
        linear = linear_probe_accuracy(plain[0], known.labels, plain[1], asked.labels)
        metrics: dict[str, JsonValue] = {
            "class accuracy": knn_accuracy(plain[0], known.labels, plain[1], asked.labels).mean,
            "R² of the VAE's latents": linear_r2(latents, plain[1]).mean,
            "classes by a linear probe": linear.mean,
        }
        if fitted.concentration is not None:
            metrics["Λ̂"] = rounded(fitted.concentration)
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


def by_convolutions(
    name: str,
    preset: Preset,
    loss: str,
    score: ViewScore,
    published: dict[str, Published] | None = None,
    *,
    seconds: float,
) -> Experiment:
    """Put an experiment on views together whose encoder convolves, with SimCLR's temperature and negatives.

    The preset "paper" has the encoder and the training of decoded images, as `on_views`.

    Args:
        name: unique in the study.
        preset: size.
        loss: "InfoNCE" or "AnInfoNCE", which starts as InfoNCE: with 1/τ in all dimensions.
        score: with the augmentation.
        published: values to compare with.
        seconds: rough time of one run.

    Returns:
        The experiment.

    """
    experiment = on_views(name, preset, loss, score, published, seconds=seconds)
    if preset == "paper":
        return experiment
    counted: dict[str, JsonValue] = {"symmetric": True, "candidates": "both"}
    start: dict[str, JsonValue] = (
        {"temperature": TEMPERATURE} if loss == "InfoNCE" else {"initial": 1 / TEMPERATURE}
    )
    steps, batch, width = _CONVOLUTIONS[preset]
    recipe = Recipe(
        steps=steps,
        batch_size=batch,
        growth=(),
        muon_lr=0.05,
        adam_lr=4e-3,
        warmup=min(50, steps // 2),
        unfold=None,
        close=None,
    )
    return experiment.model_copy(
        update={
            "encoder": world.PictureEncoder(width=width),
            "loss": world.LOSSES[loss].model_copy(update={"options": {**counted, **start}}),
            "recipe": recipe,
            "watch": Watch(evaluations=0, pairs=_EVALUATION_PAIRS[preset]),
        }
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
