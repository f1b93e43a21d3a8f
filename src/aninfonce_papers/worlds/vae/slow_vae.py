"""SlowVAE: an autoencoder whose latents change little, and sparsely, from one frame to the next."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import torch
from pydantic import Field, PositiveInt
from torch import Generator, Tensor, nn

from aninfonce.encoders import KittiConvNet
from aninfonce.extending import (
    Settings,
    batch_size_at,
    build_optimizers,
    descend,
    describe,
    embed_in_chunks,
    stream,
    weights_from,
)
from aninfonce.sources import PairSource
from aninfonce.training import NonFiniteLoss, Recipe
from aninfonce_papers.worlds.vae.divergences import kl_to_normal, pixel_cross_entropy, slowness

# Images whose activations are held at once.
_CHUNK = 512


class SlowVAESettings(Settings):
    """Settings of a SlowVAE; the defaults are those of its paper.

    Attributes:
        dim: number of latents.
        beta: weight of the divergence from the standard normal.
        gamma: weight of the divergence from the Laplace transition.
        rate: inverse scale of that transition.
        entropy: the posterior's entropy in the second divergence counts for "each" of the two directions, as
            two Kullback–Leibler divergences have it, or "once" for both, as in the authors' code, which their
            weights were chosen for.
        seed: of the weights and of the noise.

    """

    dim: PositiveInt = 10
    beta: float = Field(default=1.0, ge=0)
    gamma: float = Field(default=10.0, ge=0)
    rate: float = Field(default=6.0, gt=0)
    entropy: Literal["each", "once"] = "once"
    seed: int = Field(default=0, ge=0)


class SlowLoss(NamedTuple):
    """Parts of the loss, in nats per pair, not yet weighted.

    Attributes:
        pixels: cross-entropy of the pixels of both frames.
        normal: divergence of the latents of one frame from the standard normal, mean of both frames.
        laplace: divergence of each frame's latents from a Laplace transition around the other's, summed.

    """

    pixels: Tensor
    normal: Tensor
    laplace: Tensor


class SlowVAE(nn.Module):
    """The convolutional network of KITTI Masks and its mirror image as a variational autoencoder of pairs.

    Pixels are probabilities (Bernoulli likelihood), a posterior has a diagonal covariance, a first frame's
    prior is a standard normal, and the next frame's a Laplace distribution around it.

    Example:
        >>> vae = SlowVAE()
        >>> vae.embed(torch.zeros(3, 1, 64, 64)).shape
        torch.Size([3, 10])

    Args:
        settings: sizes, weights of the loss, and the seed.

    References:
        Klindt et al., "Towards nonlinear disentanglement in natural data with temporal sparse coding" (2021).

    """

    def __init__(self, settings: SlowVAESettings | None = None) -> None:
        super().__init__()
        self.settings = settings = settings or SlowVAESettings()
        generator = stream(settings.seed, "weights")
        self.encoder = KittiConvNet(2 * settings.dim, generator=generator)
        self.decoder = mirror_net(settings.dim, generator)
        self.generator = stream(settings.seed, "noise")

    def posterior(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Give mean and log-variance (N, d) of the latents of images (N, 1, 64, 64), from 0 to 1."""
        mean, log_variance = self.encoder(images).chunk(2, dim=1)
        return mean, log_variance

    def embed(self, images: Tensor) -> Tensor:
        """Give the means (N, d) of the latents of images (N, 1, 64, 64), of any type, in pieces."""
        return embed_in_chunks(self, images, lambda part: self.posterior(part)[0], _CHUNK)

    def loss(self, x: Tensor, x_pos: Tensor) -> SlowLoss:
        """Give the parts of the loss of N pairs of images, (N, 1, 64, 64) each, from 0 to 1."""
        if x.shape != x_pos.shape:
            raise ValueError(f"`x_pos` must have the shape of `x`, got {describe(x_pos)} for {describe(x)}")
        images = torch.cat([x, x_pos])
        mean, log_variance = self.posterior(images)
        pixels = pixel_cross_entropy(self.decoder, mean, log_variance, images, self.generator)
        normal = kl_to_normal(mean, log_variance).sum() / 2
        laplace = slowness(mean, log_variance, self.settings.rate, once=self.settings.entropy == "once")
        return SlowLoss(pixels / len(x), normal / len(x), laplace / len(x))

    def weighted(self, parts: SlowLoss) -> Tensor:
        """Sum up the parts of the loss with their weights."""
        return parts.pixels + self.settings.beta * parts.normal + self.settings.gamma * parts.laplace


def mirror_net(dim: int, generator: Generator) -> nn.Sequential:
    """Build the encoder's mirror image, from latents (N, d) to logits (N, 1, 64, 64)."""
    with weights_from(generator):
        first = nn.Linear(dim, 256)
        nn.init.kaiming_normal_(first.weight, nonlinearity="relu")
        nn.init.zeros_(first.bias)
        layers: list[nn.Module] = [first, nn.Unflatten(1, (256, 1, 1)), nn.ReLU()]
        layers += [nn.ConvTranspose2d(256, 64, 4)]
        for n_in, n_out in ((64, 64), (64, 32), (32, 32), (32, 1)):
            layers += [nn.ReLU(), nn.ConvTranspose2d(n_in, n_out, 4, stride=2, padding=1)]
    return nn.Sequential(*layers)


def train_slow_vae(
    pairs: PairSource, recipe: Recipe, settings: SlowVAESettings | None = None, *, device: Any = "cpu"
) -> SlowVAE:
    """Train a SlowVAE on pairs of frames.

    Example:
        >>> from aninfonce.sources import SequenceSource
        >>> frames = torch.rand(20, 1, 64, 64, generator=Generator().manual_seed(0)).numpy()
        >>> vae = train_slow_vae(SequenceSource([frames]), Recipe(steps=2, batch_size=4, growth=()))
        >>> vae.training
        False

    Args:
        pairs: draws images (n, 1, 64, 64) from 0 to 1, and those that follow.
        recipe: optimiser, rates, steps and batch size.
        settings: of the model.
        device: to train on.

    Returns:
        The SlowVAE in evaluation mode.

    """
    vae = SlowVAE(settings).to(device)
    optimizers = build_optimizers(vae, nn.Identity(), recipe)
    for step in range(recipe.steps):
        batch = pairs.next(batch_size_at(step, recipe)).to(device)
        loss = vae.weighted(vae.loss(batch.x, batch.x_pos))
        if not bool(torch.isfinite(loss)):
            raise NonFiniteLoss(step, loss.item(), None, None)
        descend(optimizers, loss, step, recipe)
    return vae.eval()
