"""Convex fits on a frozen embedding: the metric of its pairs, full or diagonal."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count, check_matrix, check_vector
from aninfonce.alignment.newton import Curvature, damped_newton
from aninfonce.losses import info_nce
from aninfonce.similarities import Anisotropic, Factors, Similarity

# Anchors that the second derivatives are computed on, out of the first blocks; slopes use all pairs.
_CURVATURE_ANCHORS = 128
_CURVATURE_BLOCKS = 16
# With more entries in M than this, the curvature between those off its diagonal is neglected.
_MOST_COUPLED = 256
# The search ends once a step promises to lower the loss by less than this share of its sampling noise.
_NOISE_SHARE = 0.1


class FittedMetric(NamedTuple):
    """Where a fit ended."""

    matrix: Tensor
    """M, (d, d), in float64."""
    loss: float
    """Mean loss at M (before a last step too small to tell)."""


class Quadratic(Similarity):
    """−½ΔᵀMΔ for any symmetric M, in which the loss is convex; in a factor of M it would not be."""

    def __init__(self, matrix: Tensor) -> None:
        super().__init__()
        self.metric = nn.Parameter(matrix)

    def pair(self, q: Tensor, r: Tensor) -> Tensor:
        """Similarity of matching rows."""
        difference = q - r
        return -0.5 * ((difference @ self.metric) * difference).sum(dim=-1)

    def factor(self, q: Tensor, r: Tensor) -> Factors:
        """One product with a bias for each side."""
        mapped = q @ self.metric
        return Factors(mapped, r, -0.5 * (mapped * q).sum(dim=1), -0.5 * ((r @ self.metric) * r).sum(dim=1))


def fit_metric(
    anchors: Tensor,
    positives: Tensor,
    initial: Tensor,
    *,
    diagonal: bool = False,
    block: int = 1024,
    iterations: int = 15,
) -> FittedMetric:
    """Minimise the forward loss with similarity −½ΔᵀMΔ over M, by Newton steps.

    Its eigenvectors are the axes along which pairs vary independently, its eigenvalues their Λ: where those
    differ, rotating the embedding to the eigenvectors turns its columns into the factors.

    Example:
        >>> g = torch.Generator().manual_seed(0)
        >>> z = torch.randn(4096, 2, generator=g)
        >>> step = torch.randn(4096, 2, generator=g) / torch.tensor([5.0, 1.0]).sqrt() / 3
        >>> fit = fit_metric(z, z + step, torch.ones(2), diagonal=True)
        >>> 3 < fit.matrix[0, 0] / fit.matrix[1, 1] < 8
        tensor(True)

    Args:
        anchors: frozen embeddings (N, d).
        positives: of the same pairs, (N, d).
        initial: diagonal of M to start from (d,), positive. Also the scale of the search.
        diagonal: fit only the diagonal.
        block: pairs that are each other's negatives; the last incomplete block is left out.
        iterations: passes over all pairs, at most; a start near the optimum takes three or four.

    Returns:
        M and the loss there.

    """
    check_matrix(anchors, "anchors")
    n, d = anchors.shape
    check_matrix(positives, "positives", rows=n, columns=d)
    check_count(block, "block", minimum=2)
    check_count(iterations, "iterations")
    if n < block:
        raise ValueError(f"`anchors` must have at least one block of {block} rows, got {n}")
    start = check_vector(initial, "initial", length=d).detach().double().cpu()
    if bool((start <= 0).any()):
        raise ValueError(f"`initial` must be above 0 everywhere, got {float(start.min()):g}")
    root = start.sqrt()
    scale = root.to(anchors)
    blocks = [
        ((anchors[i : i + block] * scale), (positives[i : i + block] * scale))
        for i in range(0, n - block + 1, block)
    ]
    index = torch.arange(d).repeat(2, 1) if diagonal else torch.triu_indices(d, d)

    def derivatives(entries: Tensor) -> tuple[float, Tensor, Curvature]:
        # Slopes from all pairs, curvature from some anchors.
        matrix = _symmetric(entries, index, d)
        curvature = partial(_curvature, blocks[:_CURVATURE_BLOCKS], matrix, index)
        return *_value_and_slope(blocks, matrix, index), curvature

    identity, pairs = torch.eye(d, dtype=torch.float64)[index[0], index[1]], block * len(blocks)
    pull = torch.full_like(identity, 0.01 / pairs)
    enough = _NOISE_SHARE * len(identity) / pairs
    entries, loss = damped_newton(derivatives, identity, pull, passes=iterations, enough=enough)
    return FittedMetric(root[:, None] * _symmetric(entries, index, d) * root, loss)


def _value_and_slope(
    blocks: list[tuple[Tensor, Tensor]], matrix: Tensor, index: Tensor
) -> tuple[float, Tensor]:
    """Mean loss over blocks and its derivatives in the entries."""
    values = matrix.diagonal()
    similarity: Quadratic | Anisotropic
    if index.shape[1] == len(matrix) and bool((values > 0).all()):
        # A positive diagonal stretches columns: half of the symmetric matrix serves.
        similarity = Anisotropic(len(matrix), values.to(blocks[0][0]))
        parameter = similarity.raw
    else:
        similarity = Quadratic(matrix.to(blocks[0][0]))
        parameter = similarity.metric
    total, slope = 0.0, torch.zeros(parameter.shape, dtype=torch.float64)
    with torch.enable_grad():
        for a, p in blocks:
            loss = info_nce(a, p, similarity=similarity)
            slope += torch.autograd.grad(loss, parameter)[0].cpu() / len(blocks)
            total += loss.item() / len(blocks)
    if slope.ndim == 1:
        return total, slope / values  # the parameter is a logarithm
    slope = slope + slope.T - torch.diag(slope.diagonal())
    return total, slope[index[0], index[1]]


@torch.no_grad()
def _curvature(blocks: list[tuple[Tensor, Tensor]], matrix: Tensor, index: Tensor) -> Tensor:
    """Second derivatives of the loss in the entries, estimated on some anchors.

    The loss is log Σⱼ exp(φⱼ·m) minus a linear term, so they are covariances of φ under the softmax.
    Anchors whose positive is in doubt have most of the covariance: they are drawn in proportion to it.
    """
    similarity = Quadratic(matrix.to(blocks[0][0]))
    doubts = torch.cat([_doubt(similarity, *pair) for pair in blocks])
    shares = (doubts / doubts.sum()).cumsum(dim=0)
    picks = (torch.arange(_CURVATURE_ANCHORS).to(shares) + 0.5) / _CURVATURE_ANCHORS
    chosen = torch.searchsorted(shares, picks).clamp_max(len(doubts) - 1)
    weights = (doubts.mean() / doubts[chosen] / len(chosen)).to(similarity.metric)

    rows, columns = index.to(similarity.metric.device)
    # Both of two equal off-diagonal entries move at once.
    factor = torch.where(rows == columns, -0.5, -1.0).to(similarity.metric)
    coupled = torch.arange(len(rows)) if len(rows) <= _MOST_COUPLED else (rows == columns).nonzero()[:, 0]
    block = similarity.metric.new_zeros(len(coupled), len(coupled))
    alone = similarity.metric.new_zeros(len(rows))
    size = len(blocks[0][0])
    for place, weight in zip(chosen.tolist(), weights, strict=True):
        anchors, positives = blocks[place // size]
        i = place % size
        candidates = anchors.index_copy(0, torch.tensor([i], device=anchors.device), positives[i : i + 1])
        difference = candidates - anchors[i]
        softmax = similarity.pair(candidates, anchors[i].expand_as(candidates)).softmax(dim=0)
        features = difference[:, rows] * difference[:, columns] * factor
        centred = (features - softmax @ features) * (softmax * weight).sqrt()[:, None]
        block.addmm_(centred[:, coupled].T, centred[:, coupled])
        if len(coupled) < len(rows):
            alone += centred.square().sum(dim=0)
    whole = torch.diag(alone)
    whole[coupled[:, None], coupled] = block
    return whole.double().cpu()


def _doubt(similarity: Quadratic, anchors: Tensor, positives: Tensor) -> Tensor:
    """One minus the softmax probability of each anchor's positive."""
    logits = similarity(anchors, anchors)
    logits.diagonal().copy_(similarity.pair(anchors, positives))
    doubt: Tensor = 1.0 - logits.softmax(dim=1).diagonal()
    return doubt.double().clamp_min(1e-9)


def _symmetric(entries: Tensor, index: Tensor, d: int) -> Tensor:
    """Put the entries of an upper triangle (or diagonal) into a symmetric (d, d) matrix."""
    matrix = torch.zeros(d, d, dtype=torch.float64)
    matrix[index[0], index[1]] = entries
    return torch.triu(matrix) + torch.triu(matrix, 1).T
