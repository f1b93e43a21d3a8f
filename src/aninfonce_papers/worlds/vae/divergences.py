"""The parts of a VAE's loss: divergences from a prior in closed form, and what the pixels cost."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor, nn

from aninfonce.extending import check_number


def pixel_cross_entropy(
    decoder: nn.Module, mean: Tensor, log_variance: Tensor, pixels: Tensor, generator: Generator
) -> Tensor:
    """Draw latents from N(μ, σ²), decode them to logits, and give the cross-entropy of all pixels."""
    noise = torch.randn(mean.shape, generator=generator).to(mean)
    logits = decoder(mean + noise * (log_variance / 2).exp())
    return nn.functional.binary_cross_entropy_with_logits(logits, pixels, reduction="sum")


def kl_to_normal(mean: Tensor, log_variance: Tensor) -> Tensor:
    """Kullback–Leibler divergence of N(μ, σ²) from the standard normal, in nats, one for each entry.

    >>> kl_to_normal(torch.tensor([0.0, 2.0]), torch.zeros(2))
    tensor([0., 2.])
    """
    return (mean**2 + log_variance.exp() - log_variance - 1) / 2


def kl_to_laplace(mean: Tensor, log_variance: Tensor, rate: float) -> Tensor:
    """Kullback–Leibler divergence of N(μ, σ²) from the Laplace density ½ rate·exp(−rate·|x|), in nats.

    >>> kl_to_laplace(torch.zeros(1), torch.zeros(1), rate=1.0).round(decimals=4)
    tensor([0.0721])
    """
    return cross_entropy_to_laplace(mean, log_variance, rate) - normal_entropy(log_variance)


def cross_entropy_to_laplace(mean: Tensor, log_variance: Tensor, rate: float) -> Tensor:
    """Mean of −log ½ rate·exp(−rate·|x|) over N(μ, σ²); arguments as in `kl_to_laplace`."""
    check_number(rate, "rate", minimum=0, exclusive=True)
    deviation = (log_variance / 2).exp()
    ratio = mean / deviation
    near = math.sqrt(2 / math.pi) * deviation * (-(ratio**2) / 2).exp()
    size = near + mean * torch.erf(ratio / math.sqrt(2))
    return rate * size - math.log(rate / 2)


def normal_entropy(log_variance: Tensor) -> Tensor:
    """Entropy of N(μ, σ²) in nats, from log σ²."""
    return (log_variance + math.log(2 * math.pi * math.e)) / 2


def slowness(mean: Tensor, log_variance: Tensor, rate: float, *, once: bool) -> Tensor:
    """Divergence of each posterior (2N, d) from a Laplace transition around the one N rows away, summed.

    The entropies of the posteriors count for both directions, or `once`, as in the code of SlowVAE's authors.
    """
    first, second = mean.chunk(2)
    change = torch.cat([first - second, second - first])
    entropy = normal_entropy(log_variance).sum()
    return cross_entropy_to_laplace(change, log_variance, rate).sum() - (entropy / 2 if once else entropy)
