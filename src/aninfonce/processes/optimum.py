"""The lowest loss that any model can reach on a process."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from aninfonce._validation import check_choice, check_count
from aninfonce.processes.batch import PairBatch
from aninfonce.processes.process import DataGeneratingProcess

# Pairs of (anchor, candidate) whose kernel is evaluated at once: their differences stay in the cache.
_TILE = 1 << 15


@dataclass(frozen=True)
class OptimalLoss:
    """A Monte-Carlo value with its uncertainty.

    Attributes:
        value: mean loss at the true latents, in nats.
        standard_error: of that mean, from the spread over independent batches.
        limit: the value for many negatives, log(1 + negatives) − KL(p(z⁺|z) ‖ p(z)), if it is known.

    """

    value: float
    standard_error: float
    limit: float | None


def optimal_loss(
    process: DataGeneratingProcess,
    n_negatives: int,
    *,
    counting: str = "forward",
    batches: int = 20,
    generator: Generator | None = None,
) -> OptimalLoss:
    """Compute the contrastive loss at the true latents and the true conditional.

    >>> from aninfonce.processes import process
    >>> generator = torch.Generator().manual_seed(0)
    >>> best = optimal_loss(process("fig2/25", mixing="identity"), 99, generator=generator)
    >>> 1.5 < best.value < 2.0
    True

    Args:
        process: anything whose conditional has a density; hard negatives are not drawn.
        n_negatives: negatives per anchor.
        counting: "forward": the N − 1 other anchors of a batch and the positive, N logits, the optimum
            over all critics. "published": both views as anchors, each against all 2N − 2 others, the
            counting of the AnInfoNCE authors with the true Λ (n_negatives = 2N − 2).
        batches: independent batches to average over.
        generator: source of randomness.

    Returns:
        Value, standard error and large-batch limit.

    """
    check_count(n_negatives, "n_negatives")
    check_count(batches, "batches", minimum=2)
    check_choice(counting, "counting", ("forward", "published"))
    if process.negatives is not None:
        raise ValueError("`process` must have no hard negatives, got a process that draws some")
    if counting == "published" and n_negatives % 2:
        raise ValueError(f"`n_negatives` must be even, 2N − 2, for the published counting, got {n_negatives}")
    n = n_negatives + 1 if counting == "forward" else n_negatives // 2 + 1
    value = _forward if counting == "forward" else _published
    losses = []
    for _ in range(batches):
        batch = process.sample(n, generator)
        losses.append(value(process, batch))
    spread = torch.tensor(losses, dtype=torch.float64)
    limit = None
    if counting == "forward" and _has_normalizer(process, batch):
        divergence = _log_ratio_at_positive(process, process.sample(10_000, generator))
        limit = math.log1p(n_negatives) - divergence
    return OptimalLoss(float(spread.mean()), float(spread.std() / math.sqrt(batches)), limit)


def _forward(process: DataGeneratingProcess, batch: PairBatch) -> float:
    """Loss of anchors against the other anchors; the best critic divides by the marginal's density."""
    z, z_pos = _latents(batch)
    positive = _kernel(process, z, z_pos) - _log_marginal(process, z_pos)
    negatives = _log_sum_kernel(process, z, z, -_log_marginal(process, z))
    return float((torch.logaddexp(positive, negatives) - positive).mean())


def _published(process: DataGeneratingProcess, batch: PairBatch) -> float:
    """Loss of both views against all other points of both views, at the true similarity."""
    z, z_pos = _latents(batch)
    total = 0.0
    for anchor, partner in ((z, z_pos), (z_pos, z)):
        positive = _kernel(process, anchor, partner)
        own = _log_sum_kernel(process, anchor, anchor, torch.zeros_like(positive))
        cross = _log_sum_kernel(process, anchor, partner, torch.zeros_like(positive))
        denominator = torch.logsumexp(torch.stack([positive, own, cross]), dim=0)
        total += float((denominator - positive).mean()) / 2
    return total


def _log_ratio_at_positive(process: DataGeneratingProcess, batch: PairBatch) -> float:
    """Mean of log p(z⁺|z) − log p(z⁺) over the batch."""
    z, z_pos = _latents(batch)
    law = process.conditional(z.double())
    ratio = law.log_prob(z_pos.double()) - _log_marginal(process, z_pos.double())
    return float(ratio.mean())


def _has_normalizer(process: DataGeneratingProcess, batch: PairBatch) -> bool:
    try:
        process.conditional(_latents(batch[:1])[0]).log_normalizer()
    except NotImplementedError:
        return False
    return True


def _latents(batch: PairBatch) -> tuple[Tensor, Tensor]:
    assert batch.z is not None
    assert batch.z_pos is not None
    return batch.z, batch.z_pos


def _kernel(process: DataGeneratingProcess, z: Tensor, x: Tensor) -> Tensor:
    """Unnormalised log-density of each row of `x` (N, d) at its own anchor: a tensor (N,)."""
    return process.conditional(z).log_kernel(x)


def _log_marginal(process: DataGeneratingProcess, x: Tensor) -> Tensor:
    """Log-density of latents `x` (N, d) under the marginal: a tensor (N,)."""
    log_prob = getattr(process.marginal, "log_prob", None)
    if log_prob is None:
        raise ValueError("`process` must have a marginal with a density (`log_prob`), got one without")
    value: Tensor = log_prob(x)
    return value


def _log_sum_kernel(process: DataGeneratingProcess, z: Tensor, candidates: Tensor, bias: Tensor) -> Tensor:
    """Log of Σⱼ exp(kernel(zᵢ, cⱼ) + biasⱼ) over j ≠ i, for candidates (N, d): a tensor (N,)."""
    law = process.conditional(z)
    total = torch.full_like(z[:, 0], -torch.inf)
    step = max(1, _TILE // len(z))
    for start in range(0, len(candidates), step):
        part = candidates[start : start + step]
        logits = law.log_kernel(part[:, None]) + bias[start : start + step, None]  # (tile, N)
        rows = torch.arange(len(part), device=z.device)
        logits[rows, start + rows] = -torch.inf
        total = torch.logaddexp(total, torch.logsumexp(logits, dim=0))
    return total
