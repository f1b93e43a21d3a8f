"""Λ̂ of a flat embedding with intervals, whatever the distribution of its rows.

On the sphere, with uniform anchors, −½ΔᵀΛΔ is all that tells a positive from a negative. In flat space how
common a candidate is does so too. Here that is fitted along with Λ: the logit of candidate z⁺ is
−½ΔᵀΛΔ + a·z⁺ + b·z⁺² + c·β(z⁺), with β the potential of the loss if there is one. All of it is linear in
what is sought, so the likelihood has one maximum, and Newton's method finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from aninfonce._validation import check_count, check_matrix, check_number
from aninfonce.diagnostics.concentration import FittedConcentration, bootstrap_interval
from aninfonce.diagnostics.negatives import spread_blocks

# A hundredth of a pair holds the start: without it, pairs that are never confused have no maximum.
_TRUST = 0.01
# The search ends when a step promises less than this share of what the noise of the pairs does to the loss.
_NOISE_SHARE = 0.01
_PASSES = 20


def fit_flat_concentration(
    anchors: Tensor,
    positives: Tensor,
    *,
    potential: Callable[[Tensor], Tensor] | None = None,
    clusters: npt.NDArray[np.intp] | None = None,
    apart: int = 1,
    variance_error: npt.NDArray[np.float64] | None = None,
    level: float = 0.95,
    replicates: int = 500,
    block: int = 128,
    seed: int = 0,
) -> FittedConcentration:
    """Fit the diagonal Λ̂ of pairs in Rᵈ together with the distribution of their candidates.

    Example:
        >>> g = torch.Generator().manual_seed(0)
        >>> phi = torch.tensor([0.5, 0.9])
        >>> z = torch.randn(4000, 2, generator=g)
        >>> z_pos = phi * z + (1 - phi**2).sqrt() * torch.randn(4000, 2, generator=g)
        >>> fit = fit_flat_concentration(z, z_pos)
        >>> truth = (phi / (1 - phi**2)).numpy()  # 0.67 and 4.7
        >>> bool(((fit.interval[:, 0] < truth) & (truth < fit.interval[:, 1])).all())
        True

    Args:
        anchors: embeddings (N, d) of unit variance, in the order of time if they have one.
        positives: of the same pairs, (N, d).
        potential: β, from (n, d) to (n,).
        clusters: as in `fit_concentration`.
        apart: as in `fit_concentration`.
        variance_error: (d,) relative standard error of each column's variance, on the rows that brought it to
            one. Λ goes with the variance, so what is not known of that is not known of Λ.
        level: of the intervals.
        replicates: of the bootstrap.
        block: pairs that are each other's negatives, at most.
        seed: of the blocks and the resampling.

    Returns:
        Λ̂ with its intervals.

    """
    check_matrix(anchors, "anchors", min_rows=2)
    n, d = anchors.shape
    check_matrix(positives, "positives", rows=n, columns=d)
    check_count(replicates, "replicates", minimum=2)
    if not 0.0 < check_number(level, "level") < 1.0:
        raise ValueError(f"`level` must lie between 0 and 1, got {level:g}")
    rows = spread_blocks(n, check_count(block, "block", minimum=2), check_count(apart, "apart"), seed)
    with torch.no_grad():
        of_anchors, of_positives = (_as_candidate(z, potential) for z in (anchors, positives))
    # Each on its own scale, or the curvature is hardly invertible.
    scale = of_anchors.std(dim=0).clamp_min(1e-9)
    a, p = anchors.detach().cpu().double(), positives.detach().cpu().double()
    blocks = [
        _Block(a[taken], p[taken], of_anchors[taken] / scale, of_positives[taken] / scale)
        for taken in torch.from_numpy(rows)
    ]
    parameters = _newton(blocks)
    found = _derivatives(blocks, parameters)
    curvature, influence = found.curvature.numpy(), found.influence.numpy()
    steps = (-influence @ np.linalg.pinv(curvature, hermitian=True))[:, :d]
    values = parameters[:d].clamp_min(0.0).numpy()
    taken = rows.ravel()
    return bootstrap_interval(
        values,
        steps,
        taken if clusters is None else clusters[taken],
        level=level,
        replicates=replicates,
        seed=seed,
        relative_error=variance_error,
    )


def _as_candidate(z: Tensor, potential: Callable[[Tensor], Tensor] | None) -> Tensor:
    """Collect what may make a candidate common or rare, (n, k)."""
    parts = [z, z.square()] if potential is None else [z, z.square(), potential(z)[:, None]]
    return torch.cat(parts, dim=1).cpu().double()


class _Block(NamedTuple):
    """Pairs that are each other's negatives, and what is known of each as a candidate."""

    anchors: Tensor
    positives: Tensor
    of_anchors: Tensor
    of_positives: Tensor


class _Derivatives(NamedTuple):
    """Loss, slope and curvature in the parameters, summed over anchors, and the influence of each pair."""

    value: float
    slope: Tensor
    curvature: Tensor
    influence: Tensor


def _derivatives(blocks: list[_Block], parameters: Tensor) -> _Derivatives:
    parts = [_of_block(block, parameters) for block in blocks]
    return _Derivatives(
        sum(part.value for part in parts),
        torch.stack([part.slope for part in parts]).sum(dim=0),
        torch.stack([part.curvature for part in parts]).sum(dim=0),
        torch.cat([part.influence for part in parts]),
    )


def _of_block(block: _Block, parameters: Tensor) -> _Derivatives:
    a, p, n = block.anchors, block.positives, len(block.anchors)
    squares = torch.cat([(a - p).square()[:, None], (a[:, None] - a[None]).square()], dim=1)
    others = torch.cat([block.of_positives[:, None], block.of_anchors.expand(n, n, -1)], dim=1)
    features = torch.cat([-0.5 * squares, others], dim=2)
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
    return _Derivatives(value, as_anchor.sum(dim=0), curvature, as_anchor + as_negative)


def _newton(blocks: list[_Block]) -> Tensor:
    """Minimise the loss over Λ and what goes with it, from what Gaussian pairs would have."""
    a, p = (torch.cat([block[side] for block in blocks]) for side in (0, 1))
    correlation = ((a - a.mean(dim=0)) * (p - p.mean(dim=0))).mean(dim=0) / (a.std(dim=0) * p.std(dim=0))
    phi = correlation.nan_to_num().clamp(0.0, 0.9999)
    start = torch.zeros(a.shape[1] + blocks[0].of_anchors.shape[1], dtype=torch.float64)
    start[: a.shape[1]] = (phi / (1 - phi.square())).clamp_min(1e-3)
    pull = _TRUST / start.square().clamp_min(1e-2)
    parameters = best = start
    lowest, damping = float("inf"), 0.0
    slope, curvature = torch.zeros_like(start), torch.diag(pull)
    for _ in range(_PASSES):
        found = _derivatives(blocks, parameters)
        value = found.value + 0.5 * float(pull @ (parameters - start).square())
        if value <= lowest:
            lowest, best = value, parameters
            slope = found.slope + pull * (parameters - start)
            curvature = found.curvature + torch.diag(pull)
            damping = damping / 10 if damping > 1e-3 else 0.0
        else:
            damping = max(10 * damping, 0.1)
        step: Tensor = torch.linalg.solve(curvature + damping * torch.diag(curvature.diagonal()), slope)
        if not damping and float(slope @ step) < _NOISE_SHARE * len(start):
            return best - step
        parameters = best - step
    return best
