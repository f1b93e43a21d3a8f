"""Convex fits on a frozen embedding: the metric of its pairs, full or diagonal."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count, check_matrix, check_vector
from aninfonce.losses import info_nce
from aninfonce.similarities import Factors, Similarity

# Anchors whose candidates give the second derivatives: a sample will do, the first ones use all pairs.
_CURVATURE_ANCHORS = 256
# The search ends when a step promises less than this share of what the noise of the pairs does to the loss.
_NOISE_SHARE = 0.1
_HALVINGS = 8


class FittedMetric(NamedTuple):
    """Where a fit ended."""

    matrix: Tensor
    """M, (d, d), in float64."""
    loss: float
    """Mean loss at M (before a last step too small to tell)."""


class Quadratic(Similarity):
    """−½ΔᵀMΔ for any symmetric M: the loss is convex in it, which a factor of M would spoil."""

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
    entries, loss = _newton(blocks, index, d, iterations)
    return FittedMetric(root[:, None] * _symmetric(entries, index, d) * root, loss)


def _newton(blocks: list[tuple[Tensor, Tensor]], index: Tensor, d: int, passes: int) -> tuple[Tensor, float]:
    """Go from M = I to the lowest loss: all pairs give its slope, some anchors its curvature."""
    entries = best = torch.eye(d, dtype=torch.float64)[index[0], index[1]]
    lowest, step = float("inf"), torch.zeros_like(entries)
    share, pairs = 1.0, sum(len(a) for a, _ in blocks)
    for _ in range(passes):
        value, slope = _value_and_slope(blocks, _symmetric(entries, index, d), index)
        if value <= lowest:
            lowest, best, share = value, entries, 1.0
            curvature = _curvature(*blocks[0], _symmetric(entries, index, d), index)
            # Directions without curvature would run away: a little is added.
            ridge = 1e-6 * curvature.diagonal().mean().clamp_min(1e-12)
            step = torch.linalg.solve(curvature + ridge * torch.eye(len(entries)), slope)
            if float(slope @ step) < _NOISE_SHARE * len(entries) / pairs:
                return best - step, lowest
        else:
            # Far from the optimum the quadratic model overshoots.
            share /= 2
            if share < 0.5**_HALVINGS:
                break
        entries = best - share * step
    return best, lowest


def _value_and_slope(
    blocks: list[tuple[Tensor, Tensor]], matrix: Tensor, index: Tensor
) -> tuple[float, Tensor]:
    """Mean loss over blocks and its derivatives in the entries."""
    similarity = Quadratic(matrix.to(blocks[0][0]))
    total, slope = 0.0, torch.zeros_like(matrix)
    with torch.enable_grad():
        for a, p in blocks:
            loss = info_nce(a, p, similarity=similarity)
            slope += torch.autograd.grad(loss, similarity.metric)[0].cpu() / len(blocks)
            total += loss.item() / len(blocks)
    slope = slope + slope.T - torch.diag(slope.diagonal())
    return total, slope[index[0], index[1]]


@torch.no_grad()
def _curvature(anchors: Tensor, positives: Tensor, matrix: Tensor, index: Tensor) -> Tensor:
    """Second derivatives of the loss in the entries, estimated on some anchors of one block.

    The loss is log Σⱼ exp(φⱼ·m) minus a linear term, so they are covariances of φ under the softmax.
    """
    rows, columns = index.to(anchors.device)
    # Both of two equal off-diagonal entries move at once.
    twice = torch.where(rows == columns, -0.5, -1.0).to(anchors)
    metric = matrix.to(anchors)
    count = min(len(anchors), _CURVATURE_ANCHORS)
    total = torch.zeros(len(rows), len(rows), dtype=anchors.dtype, device=anchors.device)
    for i in range(count):
        candidates = anchors.clone()
        candidates[i] = positives[i]
        difference = candidates - anchors[i]
        weights = torch.softmax(-0.5 * ((difference @ metric) * difference).sum(dim=1), dim=0)
        features = difference[:, rows] * difference[:, columns] * twice
        centred = (features - weights @ features) * weights.sqrt()[:, None]
        total.addmm_(centred.T, centred)
    return (total / count).double().cpu()


def _symmetric(entries: Tensor, index: Tensor, d: int) -> Tensor:
    """Put the entries of an upper triangle (or diagonal) into a symmetric (d, d) matrix."""
    matrix = torch.zeros(d, d, dtype=torch.float64)
    matrix[index[0], index[1]] = entries
    return torch.triu(matrix) + torch.triu(matrix, 1).T
