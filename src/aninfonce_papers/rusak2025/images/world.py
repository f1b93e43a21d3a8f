"""What studies of images share: real images, a VAE that is trained once, and the world behind its decoder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import NonNegativeInt, PositiveInt
from torch import Tensor, nn

from aninfonce.augment import Augmentation
from aninfonce.datasets import LabelledImages, cache_dir, load_images
from aninfonce.encoders import MLP
from aninfonce.extending import INFONCE_RATES, Whitening, pixel_tensor, stream
from aninfonce.metrics import knn_accuracy
from aninfonce.sources import PairSource, ProcessSource
from aninfonce.training import Fitted, fit
from aninfonce_papers.engine import Encoder, Experiment, Loss, Pairs, Preset
from aninfonce_papers.engine.experiment import Part
from aninfonce_papers.engine.on_process import Sizes
from aninfonce_papers.models.strided_net import StridedNet
from aninfonce_papers.worlds.vae import VAE, VAESettings, decoder_process, train_vae

Embed = Callable[[Tensor], Tensor]

# The published values are those of this data set; `--set pairs.dataset=fashion-mnist` gives others.
JUDGED_IF = {"pairs.dataset": "mnist"}
LOSSES = {"InfoNCE": Loss(name="infonce"), "AnInfoNCE": Loss()}
# The paper does not state the encoder of its figure; ours is an MLP of three hidden layers on the principal
# components of decoded images, or on all pixels where their number is 0. Directions in which decoded images
# hardly vary would only be noise to it, and real images lie far out there.
SIZES: dict[Preset, Sizes] = {
    "smoke": Sizes("fast", 30, 64, 2_000, 0.05, closing_pairs=2_048),
    "laptop": Sizes("fast", 1_500, 512, 10_000, 0.09, closing_pairs=16_384),
    "paper": Sizes("paper", 100_000, 1_000, 10_000, 0.3),
}
DIM = 10
# A decoder is slow for few rows; this many decoded images still fit into memory.
_BULK = 8_192
_CHUNK = 4_096
_WHITENING_IMAGES = 4_096


class ImagePairs(Pairs):
    """Images, and the VAE that was trained on them: one for all seeds.

    Attributes:
        dataset: of images.
        vae_images: that the VAE is trained on.
        vae_epochs: passes over them. The paper takes 50; 12 are enough for digits that look like digits.
        vae_width: of its hidden layers.

    """

    dataset: str = "mnist"
    vae_images: PositiveInt
    vae_epochs: PositiveInt
    vae_width: PositiveInt

    def vae(self, augmentation: Augmentation | None = None) -> VAE:
        """Take the VAE from the cache, or train it.

        Args:
            augmentation: changes the images once, before the training; none if omitted.

        Returns:
            The VAE in evaluation mode.

        """
        images: Any = load_images(self.dataset).take(self.vae_images).images
        if augmentation is not None:
            images = changed_images(images, augmentation, seed=0)
        settings = VAESettings(dim=DIM, epochs=self.vae_epochs, width=self.vae_width)
        return train_vae(images, settings, directory=cache_dir() / "models")


class DecodedPairs(ImagePairs):
    """Pairs of latents with a known Λ, seen as decoded images."""

    concentration: tuple[float, ...]

    def open(self, seed: int, vae: VAE | None = None) -> ProcessSource:
        """Give the stream of pairs."""
        known = self.vae() if vae is None else vae
        return ProcessSource(decoder_process(known, self.concentration), seed, bulk=_BULK)


IMAGES: dict[Preset, ImagePairs] = {
    "smoke": ImagePairs(vae_images=1_000, vae_epochs=2, vae_width=32),
    "laptop": ImagePairs(vae_images=60_000, vae_epochs=12, vae_width=512),
    "paper": ImagePairs(vae_images=60_000, vae_epochs=50, vae_width=512),
}


def decoded(preset: Preset, concentration: tuple[float, ...]) -> DecodedPairs:
    """Give pairs of decoded images at a preset's size."""
    return DecodedPairs(**IMAGES[preset].model_dump(), concentration=concentration)


class RealImages(Part):
    """Real images with their classes: how many to search for neighbours, and how many to classify."""

    known: PositiveInt
    asked: PositiveInt

    def load(self, dataset: str) -> tuple[LabelledImages, LabelledImages]:
        """Give the training and test images that embeddings are scored on."""
        known = load_images(dataset, "train").take(self.known)
        return known, load_images(dataset, "test").take(self.asked)

    def class_accuracy(self, embed: Embed, dataset: str) -> float:
        """Ask the five nearest real training images, by cosine, for the class of real test images.

        Args:
            embed: from images (N, C, H, W) to embeddings.
            dataset: of images.

        Returns:
            Share of right answers.

        """
        known, asked = self.load(dataset)
        embeddings = [embed(pixel_tensor(part.images)) for part in (known, asked)]
        return knn_accuracy(embeddings[0], known.labels, embeddings[1], asked.labels).mean


REAL: dict[Preset, RealImages] = {
    "smoke": RealImages(known=500, asked=200),
    "laptop": RealImages(known=60_000, asked=10_000),
    "paper": RealImages(known=60_000, asked=10_000),
}


class ImageEncoder(Encoder):
    """An encoder of images with `DIM` columns; a subclass builds it."""

    @property
    def flat(self) -> bool:
        """Whether it takes rows of pixels (N, C·H·W) rather than images (N, C, H, W)."""
        return False

    def network(self, source: PairSource, seed: int) -> nn.Module:
        """Build it for the images of a source."""
        raise NotImplementedError


class PixelEncoder(ImageEncoder):
    """An MLP from rows of pixels, or from their principal components, to `DIM` columns.

    Attributes:
        width: of its hidden layers.
        components: principal components of its inputs; 0 for all pixels.

    """

    width: PositiveInt
    components: NonNegativeInt

    @property
    def flat(self) -> bool:
        """Rows of pixels."""
        return True

    def network(self, source: PairSource, seed: int) -> nn.Module:
        """Build it for the images of a source."""
        generator = stream(seed, "network")
        images = source.fresh(_WHITENING_IMAGES).x
        if not self.components:
            return MLP(images.shape[1], DIM, width=self.width, generator=generator)
        network = MLP(self.components, DIM, width=self.width, generator=generator)
        return nn.Sequential(Whitening.of(images, self.components), network)


class PictureEncoder(ImageEncoder):
    """Three convolutions, from images to `DIM` columns.

    Attributes:
        width: channels after the first of them.

    """

    width: PositiveInt

    def network(self, source: PairSource, seed: int) -> nn.Module:
        """Build it for the images of a source."""
        _, channels, side, _ = source.fresh(2).x.shape
        generator = stream(seed, "network")
        return StridedNet(DIM, side=side, in_channels=channels, width=self.width, generator=generator)


ENCODERS: dict[Preset, PixelEncoder] = {
    "smoke": PixelEncoder(width=32, components=32),
    "laptop": PixelEncoder(width=256, components=64),
    "paper": PixelEncoder(width=512, components=0),
}


def sizes_of(preset: Preset, loss: str) -> Sizes:
    """Give the sizes of a training on decoded images."""
    fast = loss == "AnInfoNCE" or preset == "paper"
    return SIZES[preset] if fast else replace(SIZES[preset], rates=INFONCE_RATES)


def train_on(source: PairSource, experiment: Experiment, seed: int) -> Fitted:
    """Train the encoder of an experiment on pairs of images, in the form that it takes."""
    assert isinstance(experiment.encoder, ImageEncoder)
    network = experiment.encoder.network(source, seed)
    return fit(source, experiment.training_config(seed), encoder=network)


def changed_images(images: Any, augmentation: Augmentation, seed: int) -> Any:
    """Augment many images (N, C, H, W), a part at a time, and give them as bytes of that shape."""
    generator = stream(seed, "changed images")
    parts = [
        (255.0 * augmentation(images[start : start + _CHUNK], generator).images).round().byte().numpy()
        for start in range(0, len(images), _CHUNK)
    ]
    return np.concatenate(parts)
