"""A decoder as the generator g of a process: latents with a known law, seen as images."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor

from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.extending import check_vector
from aninfonce.mixing import Mixing
from aninfonce.processes import DataGeneratingProcess
from aninfonce.spaces import Sphere
from aninfonce_papers.worlds.vae.vae import VAE


class DecoderMixing(Mixing):
    """Latents on the unit sphere, scaled by √d to where the prior has its mass, and decoded to images.

    Example:
        >>> from aninfonce_papers.worlds.vae import VAESettings
        >>> g = DecoderMixing(VAE((1, 8, 8), VAESettings(dim=3, width=16)))
        >>> g(torch.eye(3)).shape
        torch.Size([3, 64])

    Args:
        vae: whose decoder to use; a frozen copy is kept.
        flat: give rows of pixels (N, C·H·W), as most encoders want them, rather than (N, C, H, W).

    """

    def __init__(self, vae: VAE, *, flat: bool = True) -> None:
        super().__init__()
        # The world is not trained.
        self.vae = copy.deepcopy(vae).eval().requires_grad_(False)
        self.flat = flat

    def forward(self, z: Tensor) -> Tensor:
        """Decode latents `z` (N, d) on the unit sphere."""
        images = self.vae.decode(z * self.vae.dim**0.5)
        return images.flatten(1) if self.flat else images

    def inverse(self, x: Tensor) -> Tensor:
        """Refuse: a decoder has no exact inverse in closed form."""
        raise NotImplementedError("a decoder has no exact inverse; `vae.encode` gives approximate latents")


def decoder_process(
    vae: VAE, concentration: Tensor | Sequence[float], *, flat: bool = True
) -> DataGeneratingProcess:
    """Build a process whose observations are decoded images, as in Fig. 3 of the AnInfoNCE paper.

    Anchors are uniform on the sphere, positives follow exp(−½ΔᵀΛΔ) there, both are seen through the decoder.

    Example:
        >>> from aninfonce_papers.worlds.vae import VAESettings
        >>> vae = VAE((1, 8, 8), VAESettings(dim=4, width=16))
        >>> world = decoder_process(vae, [5.0, 5.0, 25.0, 25.0])
        >>> world.sample(10, torch.Generator().manual_seed(0)).x.shape, world.partitions()
        (torch.Size([10, 64]), {'style': (0, 1), 'content': (2, 3)})

    Args:
        vae: a trained one.
        concentration: Λ's diagonal (d,), on the unit sphere.
        flat: observations are rows of pixels (N, C·H·W) rather than (N, C, H, W).

    Returns:
        The process, which `training.fit` takes as pairs. As such it draws 65 536 pairs at a time;
        `aninfonce.sources.ProcessSource(world, bulk=8192)` needs an eighth of the memory.

    References:
        Rusak et al., "InfoNCE: Identifying the Gap Between Theory and Practice", 2025.

    """
    values = torch.as_tensor(concentration, dtype=torch.float32)
    check_vector(values, "concentration", length=vae.dim, minimum=0)
    sphere = Sphere(vae.dim)
    return DataGeneratingProcess(
        sphere, Uniform(sphere), lambda z: FisherBingham(z, values), DecoderMixing(vae, flat=flat)
    )
