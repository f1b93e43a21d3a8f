"""The one differentiable operation under every InfoNCE loss: log-sum-exp over an anchor's candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from aninfonce.losses.factored import Swept, factored_sweep
from aninfonce.losses.recomputed import recomputed_sweep
from aninfonce.similarities import Similarity

Sweep = Callable[[Sequence[Tensor], Tensor | None], Swept]


def candidate_lse(
    similarity: Callable[[Tensor, Tensor], Tensor],
    scale: Tensor,
    anchors: Tensor,
    candidates: Tensor,
    candidate_bias: Tensor,
    extra: Tensor,
    *,
    excluded: Sequence[int] = (),
    weights: Tensor | None = None,
    panel: int | None = None,
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
        weights: (N,), constant. With weights the result is Σ weight · lse and the gradients are
            found in the same pass; without, they take a second one.
        panel: Anchors a panel; chosen by the device's cache if None.

    Returns:
        (N,), or () with weights.

    """
    if len(candidates) == 0:
        rows = torch.logsumexp(extra, dim=1)
        return rows if weights is None else (weights * rows).sum()
    factors = similarity.factor(anchors, candidates) if isinstance(similarity, Similarity) else None
    sweep: Sweep
    inputs: tuple[Tensor, ...]
    if factors is not None:
        query, key, query_bias, key_bias = factors
        inputs = (query * scale, key, query_bias * scale, key_bias * scale + candidate_bias, extra)
        sweep = partial(factored_sweep, excluded=excluded, panel=panel)
    elif isinstance(similarity, nn.Module):
        parameters = [p for p in similarity.parameters() if p.requires_grad]
        inputs = (anchors, candidates, scale, candidate_bias, extra, *parameters)
        sweep = partial(recomputed_sweep, similarity=similarity, excluded=excluded, panel=panel)
    else:
        rows = dense_lse(similarity(anchors, candidates) * scale + candidate_bias, extra, excluded)
        return rows if weights is None else (weights * rows).sum()
    result: Tensor = _SweptLSE.apply(sweep, weights, *inputs)  # type: ignore[no-untyped-call]
    return result


def dense_lse(logits: Tensor, extra: Tensor, excluded: Sequence[int] = ()) -> Tensor:
    """Log-sum-exp (N,) of an (N, M) matrix of logits joined with `extra`, by ordinary autograd."""
    left_out = torch.zeros_like(logits, dtype=torch.bool)
    for offset in excluded:
        left_out.diagonal(offset=offset).fill_(True)
    return torch.logsumexp(torch.cat([logits.masked_fill(left_out, -torch.inf), extra], dim=1), dim=1)


class _SweptLSE(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, sweep: Sweep, weights: Tensor | None, *inputs: Tensor) -> Tensor:
        ctx.sweep, ctx.eager = sweep, weights is not None
        if weights is None:
            ctx.save_for_backward(*inputs)
            return sweep(inputs, None).lse
        lse, gradients = sweep(inputs, weights if any(ctx.needs_input_grad) else None)
        ctx.save_for_backward(*(gradients or ()))
        return (weights * lse).sum()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "the contrastive losses have first derivatives only: call `backward` or `grad` without"
                " `create_graph=True`, or pass the similarity as a plain function for a dense loss"
            )
        (grad,) = grads
        gradients = ctx.saved_tensors if ctx.eager else ctx.sweep(ctx.saved_tensors, grad).gradients
        # A plain `loss.backward()` hands in 1; to look is free only where it needs no synchronisation.
        is_one = grad.device.type == "cpu" and ctx.eager and grad.item() == 1
        scaled = [g * grad for g in gradients] if ctx.eager and not is_one else gradients
        wanted = ctx.needs_input_grad[2:]
        return None, None, *(g if want else None for g, want in zip(scaled, wanted, strict=True))
