"""Did the embedding fold? A check that needs no latents.

A folded embedding of a sphere covers one side of it twice and leaves the other empty. So its mean is not at
the centre: that of a lost sign lies at E|zᵢ|, 0.26 at d = 10. And its variance along the fold is small,
1 − 2/π = 0.36 of what it should be. Either is enough for the verdict: a bent fold may show in one alone. A
gap between the loss and that of pairs drawn from the model's own law, Fisher–Bingham with Λ̂, says that the
model does not fit, for this reason or another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from aninfonce._validation import check_matrix, check_vector
from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.losses import info_nce
from aninfonce.similarities import Anisotropic
from aninfonce.spaces import Sphere

# Share of a lost sign's mean, E|zᵢ|, above which an embedding counts as folded.
_MEAN_SHARE = 0.4
# Share of a uniform sphere's variance, 1/d, below which it also counts as folded; others have 0.87 or more.
_VARIANCE_SHARE = 0.6


@dataclass(frozen=True)
class FoldingCheck:
    """What the check found.

    Attributes:
        folded: whether a sign seems lost.
        mean_length: distance of the embedding's mean from the centre.
        largest_mean: largest such distance that still counts as whole.
        smallest_variance: of the embedding along any direction, as a share of a uniform sphere's.
        gap: loss minus the loss of the model's own law; about 0 if the model fits.

    """

    folded: bool
    mean_length: float
    largest_mean: float
    smallest_variance: float
    gap: float


def mean_absolute_coordinate(dim: int) -> float:
    """E|zᵢ| for z uniform on the unit sphere in Rᵈ.

    Example:
        >>> round(mean_absolute_coordinate(10), 3)
        0.259

    """
    return math.exp(math.lgamma(dim / 2) - math.lgamma((dim + 1) / 2)) / math.sqrt(math.pi)


@torch.no_grad()
def check_folding(
    embeddings: Tensor, concentration: Tensor, loss: float, *, block: int = 1024, generator: Generator
) -> FoldingCheck:
    """Check an embedding on the unit sphere for a lost sign, without labels.

    Args:
        embeddings: (N, d) of anchors, as the training left them (before any centring).
        concentration: fitted Λ̂ (d,).
        loss: of the fitted model in batches of `block` pairs.
        block: pairs in a batch.
        generator: draws pairs of the model's own law.

    Returns:
        The verdict and the numbers behind it.

    """
    check_matrix(embeddings, "embeddings", min_columns=2)
    dim = embeddings.shape[1]
    check_vector(concentration, "concentration", length=dim)
    mean_length = float(embeddings.mean(dim=0).norm())
    largest_mean = _MEAN_SHARE * mean_absolute_coordinate(dim)
    smallest_variance = dim * float(torch.linalg.eigvalsh(torch.cov(embeddings.double().T))[0])
    folded = mean_length > largest_mean or smallest_variance < _VARIANCE_SHARE
    own = own_loss(concentration, block=block, generator=generator)
    return FoldingCheck(folded, mean_length, largest_mean, smallest_variance, loss - own)


@torch.no_grad()
def own_loss(concentration: Tensor, *, block: int, batches: int = 64, generator: Generator) -> float:
    """Loss of a perfect model of uniform anchors whose pairs have the given Λ: a Monte-Carlo value."""
    values = concentration.detach().float().cpu()
    similarity = Anisotropic(len(values), values)
    marginal = Uniform(Sphere(len(values)))
    total = 0.0
    for _ in range(batches):
        z = marginal.sample(block, generator)
        z_pos = FisherBingham(z, values).sample(generator)
        total += info_nce(z, z_pos, similarity=similarity).item()
    return total / batches
