"""A variational autoencoder for small images: its latents stand for the causes of real images."""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from pydantic import Field, PositiveInt
from torch import Generator, Tensor, nn

from aninfonce.encoders import MLP
from aninfonce.extending import Settings, check_matrix, describe, pixel_tensor, stream
from aninfonce_papers.worlds.vae.divergences import kl_to_normal, pixel_cross_entropy

# Images that are held as floats at a time.
_CHUNK = 4096


class VAESettings(Settings):
    """All settings of a VAE and its training.

    Attributes:
        dim: d, number of latents.
        width: units in both hidden layers of the encoder and of the decoder, which have three layers each.
        slope: of LeakyReLU on the negative side.
        epochs: passes over the images.
        batch_size: images per step.
        lr: of Adam, falling to zero along a cosine.
        beta: weight of the Kullback–Leibler term; 1 is the evidence lower bound.
        seed: of the weights, the order of the images and the noise.

    """

    dim: PositiveInt = 10
    width: PositiveInt = 512
    slope: float = Field(default=0.2, gt=0)
    epochs: PositiveInt = 50
    batch_size: PositiveInt = 256
    lr: float = Field(default=1e-3, gt=0)
    beta: float = Field(default=1.0, ge=0)
    seed: int = Field(default=0, ge=0)


class VAE(nn.Module):
    """Encoder and decoder of three linear layers each, LeakyReLU between them.

    Pixels are probabilities (Bernoulli likelihood), the prior is a standard normal, and the posterior has a
    diagonal covariance.

    Example:
        >>> vae = VAE((1, 28, 28), VAESettings(dim=10, width=32))
        >>> latents = vae.encode(torch.rand(5, 1, 28, 28))
        >>> latents.shape, vae.decode(latents).shape
        (torch.Size([5, 10]), torch.Size([5, 1, 28, 28]))

    Args:
        shape: of an image (C, H, W).
        settings: sizes and the seed of the weights.

    References:
        Kingma and Welling, "Auto-Encoding Variational Bayes", 2014.

    """

    def __init__(self, shape: tuple[int, ...], settings: VAESettings | None = None) -> None:
        super().__init__()
        self.shape = tuple(shape)
        self.settings = settings = settings or VAESettings()
        self.history: tuple[float, ...] = ()
        generator = stream(settings.seed, "weights")
        hidden = (settings.width, settings.width)
        pixels, dim, slope = prod(self.shape), settings.dim, settings.slope
        self.encoder = MLP(pixels, 2 * dim, hidden=hidden, slope=slope, generator=generator)
        self.decoder = MLP(dim, pixels, hidden=hidden, slope=slope, generator=generator)

    @property
    def dim(self) -> int:
        """Number of latents."""
        return self.settings.dim

    def posterior(self, images: Any) -> tuple[Tensor, Tensor]:
        """Give mean and log-variance (N, d) of the latents of images, bytes or floats from 0 to 1."""
        mean, log_variance = self.encoder(self._rows(images)).chunk(2, dim=1)
        return mean, log_variance

    @torch.no_grad()
    def encode(self, images: Any) -> Tensor:
        """Give the mean latents (N, d) of images, (N, C, H, W) or (N, C·H·W), bytes or floats from 0 to 1."""
        starts = range(0, len(images), _CHUNK)
        return torch.cat([self.posterior(images[start : start + _CHUNK])[0] for start in starts])

    @torch.no_grad()
    def decode(self, latents: Tensor) -> Tensor:
        """Decode latents (N, d) to images (N, C, H, W) from 0 to 1."""
        check_matrix(latents, "latents", columns=self.dim)
        decoded: Tensor = self.decoder(latents).sigmoid()
        return decoded.view(-1, *self.shape)

    def loss(self, images: Any, generator: Generator) -> tuple[Tensor, Tensor]:
        """Give the cross-entropy of the pixels, and the divergence from the prior, in nats per image.

        Args:
            images: uint8, or floats from 0 to 1, (N, C, H, W) or (N, C·H·W).
            generator: draws the latents.

        """
        rows = self._rows(images)
        mean, log_variance = self.posterior(rows)
        pixels = pixel_cross_entropy(self.decoder, mean, log_variance, rows, generator)
        divergence = kl_to_normal(mean, log_variance).sum()
        return pixels / len(rows), divergence / len(rows)

    def _rows(self, images: Any) -> Tensor:
        """Read images as floats (N, C·H·W) on the device of the weights."""
        if tuple(getattr(images, "shape", ()))[1:] not in (self.shape, (prod(self.shape),)):
            raise ValueError(
                f"`images` must have shape (N, {', '.join(map(str, self.shape))}) or"
                f" (N, {prod(self.shape)}), got {describe(images)}"
            )
        weight = self.encoder.layers[0].weight
        assert isinstance(weight, Tensor)
        return pixel_tensor(images).to(weight).flatten(1)
