"""Λ̂ on a frozen embedding, with intervals: how strongly each column varies within pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from aninfonce._seeds import derive_seed
from aninfonce._validation import check_count, check_matrix, check_number
from aninfonce.alignment.metric import fit_metric
from aninfonce.diagnostics.intervals import few_clusters
from aninfonce.diagnostics.negatives import spread_blocks

# At this Λ pairs share nothing along the column; an unbounded fit may end below it.
_SMALLEST = 0.0


@dataclass(frozen=True)
class FittedConcentration:
    """Λ̂ of every column and how well it is known.

    Attributes:
        values: Λ̂ (d,).
        interval: lower and upper ends (d, 2).
        level: share of the intervals that would cover the Λ of this embedding, one column at a time.
        covariance: (d, d) of Λ̂ over the bootstrap, for statements about several columns at once.

    """

    values: npt.NDArray[np.float64]
    interval: npt.NDArray[np.float64]
    level: float
    covariance: npt.NDArray[np.float64]


def fit_concentration(
    anchors: Tensor,
    positives: Tensor,
    *,
    clusters: npt.NDArray[np.intp] | None = None,
    apart: int = 1,
    level: float = 0.95,
    replicates: int = 500,
    block: int = 256,
    seed: int = 0,
) -> FittedConcentration:
    """Fit the diagonal Λ̂ of the pairs of a frozen embedding, with bootstrap intervals.

    Λ̂ maximises the conditional likelihood of finding each positive among the other anchors of its block. A
    bootstrap would refit it for every resample of the pairs; here each replicate is one Newton step from Λ̂
    instead, which counts a pair's influence both as an anchor and as a negative of others. So the intervals
    cost one pass. They say how well Λ is known *for this embedding*, not how it differs from run to run.

    Example:
        >>> from aninfonce.distributions import FisherBingham, Uniform
        >>> from aninfonce.spaces import Sphere
        >>> g = torch.Generator().manual_seed(0)
        >>> z = Uniform(Sphere(3)).sample(2048, g)
        >>> fit = fit_concentration(z, FisherBingham(z, torch.tensor([5.0, 25.0, 25.0])).sample(g))
        >>> shared_blocks(fit.interval)
        [array([0]), array([1, 2])]

    Args:
        anchors: embeddings (N, d).
        positives: of the same pairs, (N, d).
        clusters: (N,) numbers of pairs that depend on each other, such as neighbours in time; they are
            resampled together. None if all pairs are independent.
        apart: least distance in rows between a pair and its negatives, for pairs in the order of time: some
            multiple of the lag. 1 if their order means nothing.
        level: of the intervals.
        replicates: of the bootstrap.
        block: most pairs that are each other's negatives.
        seed: of the blocks and the resampling.

    Returns:
        Λ̂ with its intervals.

    References:
        Efron, "Bootstrap methods: another look at the jackknife" (1979); Hampel, "The influence curve and its
        role in robust estimation" (1974).

    """
    rows = checked_blocks(anchors, positives, block, apart, level, replicates, seed)
    taken, block = rows.ravel(), rows.shape[1]
    a, p = anchors[taken].detach(), positives[taken].detach()
    # If pairs were drawn in flat space, Λ would be the inverse variance of their steps.
    start = (a - p).double().square().mean(dim=0).clamp_min(1e-12).reciprocal()
    matrix = fit_metric(a, p, start.to(a), diagonal=True, block=block, iterations=30).matrix
    values = matrix.diagonal().clamp_min(_SMALLEST)
    sides = (torch.split(side.cpu().double(), block) for side in (a, p))
    found = derivatives([PairBlock(*pairs) for pairs in zip(*sides, strict=True)], values)
    members = taken if clusters is None else clusters[taken]
    return bootstrap_interval(values.numpy(), found, members, level=level, replicates=replicates, seed=seed)


def checked_blocks(
    anchors: Tensor, positives: Tensor, block: int, apart: int, level: float, replicates: int, seed: int
) -> npt.NDArray[np.intp]:
    """Check the arguments of `fit_concentration`, and deal the pairs out to blocks of rows (B, size)."""
    check_matrix(anchors, "anchors", min_rows=2)
    n, d = anchors.shape
    check_matrix(positives, "positives", rows=n, columns=d)
    check_count(replicates, "replicates", minimum=2)
    if not 0.0 < check_number(level, "level") < 1.0:
        raise ValueError(f"`level` must lie between 0 and 1, got {level:g}")
    return spread_blocks(n, check_count(block, "block", minimum=2), check_count(apart, "apart"), seed)


class PairBlock(NamedTuple):
    """Pairs (n, d) that are each other's negatives, with features (n, k) of each as a candidate."""

    anchors: Tensor
    positives: Tensor
    of_anchors: Tensor | None = None
    of_positives: Tensor | None = None


class Derivatives(NamedTuple):
    """Loss, slope and curvature in the parameters, summed over anchors, and the influence of each pair."""

    value: float
    slope: Tensor
    curvature: Tensor
    influence: Tensor


def derivatives(blocks: list[PairBlock], parameters: Tensor) -> Derivatives:
    """Differentiate the negative log-likelihood of finding each positive among the anchors of its block.

    Args:
        blocks: of pairs, in float64.
        parameters: Λ (d,), followed by one for each feature of candidates.

    """
    parts = [_of_block(block, parameters) for block in blocks]
    return Derivatives(
        sum(part.value for part in parts),
        torch.stack([part.slope for part in parts]).sum(dim=0),
        torch.stack([part.curvature for part in parts]).sum(dim=0),
        torch.cat([part.influence for part in parts]),
    )


def _of_block(block: PairBlock, parameters: Tensor) -> Derivatives:
    a, p, n = block.anchors, block.positives, len(block.anchors)
    features = -0.5 * torch.cat([(a - p).square()[:, None], (a[:, None] - a[None]).square()], dim=1)
    if block.of_anchors is not None and block.of_positives is not None:
        known = torch.cat([block.of_positives[:, None], block.of_anchors.expand(n, n, -1)], dim=1)
        features = torch.cat([features, known], dim=2)
    logits = features @ parameters
    own = torch.arange(n)
    logits[own, own + 1] = -torch.inf
    weights = logits.softmax(dim=1)
    mean = torch.einsum("ij,ijk->ik", weights, features)
    centred = features - mean[:, None]
    as_anchor = mean - features[:, 0]
    as_negative = torch.einsum("ij,ijk->jk", weights[:, 1:], centred[:, 1:])
    flat = centred.flatten(0, 1)
    curvature = (flat * weights.flatten()[:, None]).T @ flat
    value = float((logits.logsumexp(dim=1) - logits[:, 0]).sum())
    return Derivatives(value, as_anchor.sum(dim=0), curvature, as_anchor + as_negative)


def bootstrap_interval(
    values: npt.NDArray[np.float64],
    found: Derivatives,
    clusters: npt.NDArray[np.intp],
    *,
    level: float,
    replicates: int,
    seed: int,
    relative_error: npt.NDArray[np.float64] | None = None,
) -> FittedConcentration:
    """Resample clusters of pairs, each with the Newton step by which it moves Λ̂.

    Args:
        values: Λ̂ (d,), the first of the parameters.
        found: derivatives at these parameters.
        clusters: (N,) numbers of pairs that are resampled together.
        level: of the intervals.
        replicates: of the bootstrap.
        seed: of the resampling.
        relative_error: (d,) of a further factor of Λ̂, such as a variance that was estimated elsewhere.

    """
    d = len(values)
    # A column along which nothing varies has no curvature: the smallest-norm solution leaves it alone.
    inverse = np.linalg.pinv(found.curvature.numpy(), hermitian=True)
    steps = (-found.influence.numpy() @ inverse)[:, :d]
    _, member = np.unique(clusters, return_inverse=True)
    sums = np.zeros((member.max() + 1, d))
    np.add.at(sums, member, steps)
    rng = np.random.default_rng(derive_seed(seed, "bootstrap"))
    draws = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), replicates)
    moved = values + few_clusters(len(sums)) * (draws - 1.0) @ sums
    if relative_error is not None:
        moved = moved * np.exp(relative_error * rng.standard_normal(moved.shape))
    tails = 0.5 * (1 - level), 0.5 * (1 + level)
    interval = np.quantile(moved, tails, axis=0).T.clip(min=_SMALLEST)
    return FittedConcentration(values, interval, level, np.cov(moved.T).reshape(d, d))


def shared_blocks(interval: npt.NDArray[np.float64]) -> list[npt.NDArray[np.intp]]:
    """Put columns whose intervals overlap, directly or through others, into one block.

    Latents of equal Λ can be rotated among each other without any change to the data. Where two intervals
    overlap the data do not say that the Λ differ, so that nothing says how the two columns are turned. Of
    several kinds of pairs, one is enough to tell two columns apart.

    Example:
        >>> one, other = [[1.0, 2.0], [1.5, 3.0], [8.0, 9.0]], [[1.0, 2.0], [4.0, 5.0], [4.0, 5.0]]
        >>> shared_blocks(np.array(one)), shared_blocks(np.array([one, other]))
        ([array([0, 1]), array([2])], [array([0]), array([1]), array([2])])

    Args:
        interval: lower and upper ends (d, 2), or (L, d, 2) of L kinds of pairs.

    Returns:
        Indices of the columns of each block, in the order of the (first) lower ends.

    """
    low, high = np.moveaxis(interval.reshape(-1, *interval.shape[-2:]), 2, 0)
    overlap = (low[:, :, None] <= high[:, None]) & (low[:, None] <= high[:, :, None])
    return sorted(linked(overlap.all(axis=0)), key=lambda block: float(low[0, block].min()))


def linked(alike: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.intp]]:
    """List the groups of items that a symmetric matrix (d, d) links, directly or through others."""
    count, member = connected_components(alike, directed=False)
    return [np.flatnonzero(member == index) for index in range(count)]
