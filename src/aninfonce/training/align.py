"""Convex fits on a frozen embedding: the metric of its pairs, full or diagonal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import minimize
from torch import Tensor, nn

from aninfonce._validation import check_count, check_matrix, check_vector
from aninfonce.losses import info_nce
from aninfonce.similarities import Factors, Similarity


class FittedMetric(NamedTuple):
    """Where a fit ended."""

    matrix: Tensor
    """M, (d, d), in float64."""
    loss: float
    """Mean loss at M."""


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
    """Minimise the forward loss with similarity −½ΔᵀMΔ over M, by L-BFGS.

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
        iterations: of L-BFGS, at most.

    Returns:
        M and the loss there.

    """
    check_matrix(anchors, "anchors")
    n, d = anchors.shape
    check_matrix(positives, "positives", rows=n, columns=d)
    check_count(block, "block", minimum=2)
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
    rows, columns = (torch.arange(d),) * 2 if diagonal else torch.triu_indices(d, d)
    similarity = Quadratic(torch.eye(d, dtype=anchors.dtype, device=anchors.device))

    def value_and_gradient(entries: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        with torch.no_grad():
            similarity.metric.copy_(_symmetric(entries, rows, columns, d))
        total, gradient = 0.0, torch.zeros(d, d, dtype=torch.float64)
        with torch.enable_grad():
            for a, p in blocks:
                loss = info_nce(a, p, similarity=similarity)
                gradient += torch.autograd.grad(loss, similarity.metric)[0].cpu() / len(blocks)
                total += loss.item() / len(blocks)
        gradient = gradient + gradient.T - torch.diag(gradient.diagonal())
        return total, gradient[rows, columns].numpy()

    found = minimize(
        value_and_gradient,
        torch.eye(d, dtype=torch.float64)[rows, columns].numpy(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations, "maxfun": iterations + 3, "maxcor": 20, "gtol": 1e-5, "ftol": 1e-7},
    )
    matrix = root[:, None] * _symmetric(found.x, rows, columns, d) * root
    return FittedMetric(matrix, float(found.fun))


def _symmetric(entries: npt.NDArray[np.float64], rows: Tensor, columns: Tensor, d: int) -> Tensor:
    """Put the entries of an upper triangle (or diagonal) into a symmetric (d, d) matrix."""
    matrix = torch.zeros(d, d, dtype=torch.float64)
    matrix[rows, columns] = torch.as_tensor(entries)
    return torch.triu(matrix) + torch.triu(matrix, 1).T
