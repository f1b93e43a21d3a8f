"""Λ̂ of a flat embedding with intervals, whatever the distribution of its rows.

On the sphere, with uniform anchors, −½ΔᵀΛΔ is all that tells a positive from a negative. In flat space it
also matters how common a candidate is. Here that is fitted together with Λ: the logit of candidate z⁺ is
−½ΔᵀΛΔ + a·z⁺ + b·z⁺² + c·β(z⁺), with β the potential of the loss if there is one. All of it is linear in the
parameters, so the likelihood has one maximum, and Newton's method finds it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from aninfonce.alignment.newton import Curvature, damped_newton
from aninfonce.diagnostics.concentration import (
    FittedConcentration,
    PairBlock,
    bootstrap_interval,
    checked_blocks,
    derivatives,
)

# Ridge towards the start, with the weight of a hundredth of a pair: without it, pairs that are never confused
# have no maximum.
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
        clusters: as in `fit_concentration`, and so are the arguments that say "likewise".
        apart: likewise.
        variance_error: (d,) relative standard error of each column's variance, on the rows by which it was
            scaled to one. Λ is in units of that variance, and so at least as uncertain.
        level: likewise.
        replicates: likewise.
        block: likewise.
        seed: likewise.

    Returns:
        Λ̂ with its intervals.

    """
    rows = checked_blocks(anchors, positives, block, apart, level, replicates, seed)
    with torch.no_grad():
        of_anchors, of_positives = (_as_candidate(z, potential) for z in (anchors, positives))
    # Each on its own scale, or the curvature is hardly invertible.
    scale = of_anchors.std(dim=0).clamp_min(1e-9)
    a, p = anchors.detach().cpu().double(), positives.detach().cpu().double()
    blocks = [
        PairBlock(a[taken], p[taken], of_anchors[taken] / scale, of_positives[taken] / scale)
        for taken in torch.from_numpy(rows)
    ]
    parameters, taken = _fitted(blocks, len(scale)), rows.ravel()
    return bootstrap_interval(
        parameters[: a.shape[1]].clamp_min(0.0).numpy(),
        derivatives(blocks, parameters),
        taken if clusters is None else clusters[taken],
        level=level,
        replicates=replicates,
        seed=seed,
        relative_error=variance_error,
    )


def _as_candidate(z: Tensor, potential: Callable[[Tensor], Tensor] | None) -> Tensor:
    """Collect features of candidates that say how common they are, (n, k)."""
    parts = [z, z.square()] if potential is None else [z, z.square(), potential(z)[:, None]]
    return torch.cat(parts, dim=1).cpu().double()


def _fitted(blocks: list[PairBlock], features: int) -> Tensor:
    """Fit Λ and the weights of the candidates' features, from what Gaussian pairs would have."""
    a, p = torch.cat([block.anchors for block in blocks]), torch.cat([block.positives for block in blocks])
    correlation = ((a - a.mean(dim=0)) * (p - p.mean(dim=0))).mean(dim=0) / (a.std(dim=0) * p.std(dim=0))
    phi = correlation.nan_to_num().clamp(0.0, 0.9999)
    start = torch.zeros(a.shape[1] + features, dtype=torch.float64)
    start[: a.shape[1]] = (phi / (1 - phi.square())).clamp_min(1e-3)

    def at(parameters: Tensor) -> tuple[float, Tensor, Curvature]:
        found = derivatives(blocks, parameters)
        return found.value, found.slope, lambda: found.curvature

    pull = _TRUST / start.square().clamp_min(1e-2)
    return damped_newton(at, start, pull, passes=_PASSES, enough=_NOISE_SHARE * len(start))[0]
