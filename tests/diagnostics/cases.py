"""Pairs whose latents are known, clean or with one violation; the encoder is the identity."""

import numpy as np
import torch

from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.spaces import Sphere

N, DIM = 2000, 5


def clean(concentration=10.0, seed=0, n=N):
    """Uniform anchors, isotropic steps: everything as the theory has it."""
    generator = torch.Generator().manual_seed(seed)
    z = Uniform(Sphere(DIM)).sample(n, generator)
    values = torch.full((DIM,), concentration) if np.ndim(concentration) == 0 else torch.tensor(concentration)
    return z.numpy(), FisherBingham(z, values).sample(generator).numpy()


def flat(steps, seed=0, n=N):
    """Normal anchors in flat space and steps drawn by a function of (generator, shape)."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, DIM))
    return z, z + 0.3 * steps(rng, z.shape)


def same(x):
    return x
