"""Log-sum-exp over an anchor's candidates, for any similarity: the way to compute it is chosen here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn

from aninfonce.losses.kernel.differentiable import Sweep, differentiable
from aninfonce.losses.kernel.panels import panel_sweep
from aninfonce.losses.kernel.probes import Probes
from aninfonce.losses.kernel.recomputed import recomputed_sweep
from aninfonce.similarities import Similarity


def candidate_lse(
    similarity: Callable[[Tensor, Tensor], Tensor],
    scale: Tensor,
    anchors: Tensor,
    candidates: Tensor,
    candidate_bias: Tensor,
    extra: Tensor,
    *,
    excluded: Sequence[int] = (),
    weight: float | None = None,
    panel: int | None = None,
    probes: Probes | None = None,
) -> Tensor:
    """Log Σⱼ exp(scale · similarity(anchor, candidateⱼ) + biasⱼ), joined with `extra`, for each anchor.

    A similarity that factors into one matrix product takes the fast way; any other module is
    recomputed panel by panel; a plain function, whose tensors are not known, is computed whole.

    Args:
        similarity: From (N, d) and (M, d) to (N, M).
        scale: One over the temperature, ().
        anchors: (N, d).
        candidates: (M, d); M may be 0.
        candidate_bias: Added to each candidate's logit, (M,).
        extra: Further logits of each anchor, (N, K), K ≥ 1.
        excluded: For each offset o, anchor i leaves out candidate o + i.
        weight: With a weight the result is Σ weight · lse and the gradients are found in the same
            pass; without, they take a second one.
        panel: Anchors per panel; chosen by the device's cache if None.
        probes: Where to note what decides whether the result is exact; without them it is, and takes longer.

    Returns:
        (N,), or () with a weight.

    """
    factors = similarity.factor(anchors, candidates) if isinstance(similarity, Similarity) else None
    sweep: Sweep
    if len(candidates) == 0:
        rows = torch.logsumexp(extra, dim=1)
    elif factors is not None:
        query, key, query_bias, key_bias, cancels, terms, capped = factors
        if cancels and probes is not None:
            largest = -(query_bias.amin() + key_bias.amin()) if terms is None else terms
            probes.no_cancellation(largest * scale)
        sweep = partial(panel_sweep, excluded=excluded, panel=panel, probes=probes, capped=capped)
        biases = query_bias * scale, key_bias * scale + candidate_bias
        return differentiable(sweep, weight, query * scale, key, *biases, extra)
    elif isinstance(similarity, nn.Module):
        parameters = [p for p in similarity.parameters() if p.requires_grad]
        sweep = partial(recomputed_sweep, similarity=similarity, excluded=excluded, panel=panel)
        return differentiable(sweep, weight, anchors, candidates, scale, candidate_bias, extra, *parameters)
    else:
        rows = dense_lse(similarity(anchors, candidates) * scale + candidate_bias, extra, excluded)
    return rows if weight is None else rows.sum() * weight


def dense_lse(logits: Tensor, extra: Tensor, excluded: Sequence[int] = ()) -> Tensor:
    """Log-sum-exp (N,) of an (N, M) matrix of logits joined with `extra`, by ordinary autograd."""
    left_out = torch.zeros_like(logits, dtype=torch.bool)
    for offset in excluded:
        left_out.diagonal(offset=offset).fill_(True)
    return torch.logsumexp(torch.cat([logits.masked_fill(left_out, -torch.inf), extra], dim=1), dim=1)
