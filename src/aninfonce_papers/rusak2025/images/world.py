"""What studies of images share: real images, a VAE that is trained once, and the world behind its decoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor, nn

from aninfonce.augment import Augmentation
from aninfonce.datasets import LabelledImages, cache_dir, load_images
from aninfonce.encoders import MLP
from aninfonce.extending import INFONCE_RATES, Whitening, pixel_tensor, stream
from aninfonce.metrics import knn_accuracy
from aninfonce.sources import PairSource, ProcessSource
from aninfonce.training import Fitted, fit
from aninfonce_papers.engine import trained
from aninfonce_papers.engine.base import Configuration, Preset
from aninfonce_papers.worlds.vae import VAE, VAESettings, decoder_process, train_vae

Embed = Callable[[Tensor], Tensor]

# The published values are those of this data set; `--set dataset=fashion-mnist` gives others.
ORIGINAL = {"dataset": "mnist"}
# The paper trains its VAE for 50 epochs; 12 are enough for digits that look like digits.
VAE_SIZES: dict[Preset, Configuration] = {
    "smoke": {**ORIGINAL, "vae_images": 1_000, "vae_epochs": 2, "vae_width": 32},
    "laptop": {**ORIGINAL, "vae_images": 60_000, "vae_epochs": 12, "vae_width": 512},
    "paper": {**ORIGINAL, "vae_images": 60_000, "vae_epochs": 50, "vae_width": 512},
}
# Real images with their classes, to look among and to ask about.
REAL_SIZES: dict[Preset, Configuration] = {
    "smoke": {"known_images": 500, "asked_images": 200},
    "laptop": {"known_images": 60_000, "asked_images": 10_000},
    "paper": {"known_images": 60_000, "asked_images": 10_000},
}
# The paper does not state the encoder of its figure; ours is an MLP of three hidden layers on the principal
# components of decoded images, or on all pixels where their number is 0. Directions in which decoded images
# hardly vary would only be noise to it, and real images lie far out there.
CONTRASTIVE_SIZES: dict[Preset, Configuration] = {
    "smoke": {
        "recipe": "fast",
        "steps": 30,
        "batch_size": 64,
        "closing_pairs": 2_048,
        "test_pairs": 2_000,
        "components": 32,
        "encoder_width": 32,
    },
    "laptop": {
        "recipe": "fast",
        "steps": 1_500,
        "batch_size": 512,
        "closing_pairs": 16_384,
        "test_pairs": 10_000,
        "components": 64,
        "encoder_width": 256,
    },
    "paper": {
        "recipe": "paper",
        "steps": 100_000,
        "batch_size": 1_000,
        "test_pairs": 10_000,
        "components": 0,
        "encoder_width": 512,
    },
}
DIM = 10
# A decoder is slow for few rows; so many images in advance still fit into memory.
_BULK = 8_192
_CHUNK = 4_096
_WHITENING_IMAGES = 4_096


def known_vae(settings: Mapping[str, Any], augmentation: Augmentation | None = None) -> VAE:
    """Take the VAE of a cell's settings from the cache, or train it: one for all seeds.

    Args:
        settings: with those of `VAE_SIZES`.
        augmentation: changes the images once, before the training; none if omitted.

    Returns:
        The VAE in evaluation mode.

    """
    images: Any = load_images(settings["dataset"]).take(settings["vae_images"]).images
    if augmentation is not None:
        images = changed_images(images, augmentation, seed=0)
    vae = VAESettings(dim=DIM, epochs=settings["vae_epochs"], width=settings["vae_width"])
    return train_vae(images, vae, directory=cache_dir() / "models")


def changed_images(images: Any, augmentation: Augmentation, seed: int) -> Any:
    """Augment many images (N, C, H, W), a part at a time, and give them as bytes of that shape."""
    generator = stream(seed, "changed images")
    parts = [
        (255.0 * augmentation(images[start : start + _CHUNK], generator).images).round().byte().numpy()
        for start in range(0, len(images), _CHUNK)
    ]
    return np.concatenate(parts)


def class_accuracy(embed: Embed, settings: Mapping[str, Any]) -> float:
    """Ask the five nearest real training images, by cosine, for the class of real test images.

    Args:
        embed: from images (N, C, H, W) to embeddings.
        settings: with those of `REAL_SIZES`.

    Returns:
        Share of right answers.

    """
    known, asked = real_images(settings)
    embeddings = [embed(pixel_tensor(part.images)) for part in (known, asked)]
    return knn_accuracy(embeddings[0], known.labels, embeddings[1], asked.labels).mean


def real_images(settings: Mapping[str, Any]) -> tuple[LabelledImages, LabelledImages]:
    """Give the training and test images that embeddings are scored on."""
    name = settings["dataset"]
    known = load_images(name, "train").take(settings["known_images"])
    return known, load_images(name, "test").take(settings["asked_images"])


def sizes(preset: Preset, loss: str) -> Configuration:
    """Give the settings of a training on decoded images."""
    common = {**VAE_SIZES[preset], **CONTRASTIVE_SIZES[preset]}
    return common if loss == "AnInfoNCE" or preset == "paper" else {**common, "rates": INFONCE_RATES}


def train_on(source: PairSource, settings: Mapping[str, Any], seed: int, *, uniform: bool = True) -> Fitted:
    """Train an encoder on rows of pixels, with the loss of the settings.

    Args:
        source: of pairs.
        settings: with `loss`, "AnInfoNCE" or "InfoNCE", and those of `CONTRASTIVE_SIZES`.
        seed: of the weights.
        uniform: whether latents cover a sphere evenly, as the recipe's steps onto the sphere have it.

    Returns:
        What was trained.

    """
    if settings["loss"] == "AnInfoNCE":
        # The paper's recipe moves Λ̂ as its code does.
        options = {"positive_map": "softplus"} if settings["recipe"] == "paper" else {}
        loss: dict[str, Any] = {"name": "aninfonce", "options": options}
    else:
        loss = {"name": "infonce"}
    config = trained.training_config(dict(settings), seed, space="sphere", loss=loss)
    if not uniform:
        recipe = config.recipe.model_copy(update={"unfold": None, "close": None})
        config = config.model_copy(update={"recipe": recipe})
    return fit(source, config, encoder=_network(source, settings, seed))


def _network(source: PairSource, settings: Mapping[str, Any], seed: int) -> nn.Module:
    """Build the encoder, from rows of pixels to `DIM` columns."""
    generator = stream(seed, "network")
    images = source.fresh(_WHITENING_IMAGES).x
    width, components = settings["encoder_width"], settings["components"]
    if not components:
        return MLP(images.shape[1], DIM, width=width, generator=generator)
    network = MLP(components, DIM, width=width, generator=generator)
    return nn.Sequential(Whitening.of(images, components), network)


def decoded(vae: VAE, concentration: Sequence[float], seed: int) -> ProcessSource:
    """Draw pairs of latents with a known Λ, seen as decoded images."""
    return ProcessSource(decoder_process(vae, concentration), seed, bulk=_BULK)
