"""Log-sum-exp over the rows of any similarity module, and its gradients, panel by panel.

The similarity of a panel is computed, differentiated and dropped before the next one: any module
works, and memory is what the module itself needs for one panel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from aninfonce.losses.kernel.differentiable import Swept
from aninfonce.losses.kernel.panels import panel_rows
from aninfonce.losses.kernel.underflow import beside_one
from aninfonce.similarities import Similarity


def recomputed_sweep(
    inputs: Sequence[Any],
    weights: Tensor | float | None,
    /,
    *,
    similarity: nn.Module,
    excluded: Sequence[int] = (),
    panel: int | None = None,
) -> Swept:
    """Sweep over logits scale · similarity(query, key) + key_bias, joined with `extra`.

    Args:
        inputs: query (N, d), key (M, d), scale (), key_bias (M,), extra (N, K), and then the
            parameters of `similarity` that need a gradient.
        weights: One for all rows, or (N,), or None for no gradients.
        similarity: Module from (N, d) and (M, d) to (N, M).
        excluded: For each offset o, row i leaves out column o + i.
        panel: Rows per panel; chosen by the device's cache if None.

    Returns:
        log Σⱼ exp(logit) of each row, and the gradients if asked.

    """
    query, key, scale, key_bias, extra, *parameters = inputs
    # Our own need no checks for every panel, each of which would wait for a GPU.
    matrix: Callable[[Tensor, Tensor], Tensor] = similarity
    if isinstance(similarity, Similarity) and type(similarity).forward is Similarity.forward:
        matrix = similarity.matrix
    if isinstance(weights, float):
        weights = torch.full_like(extra[:, 0], weights)
    leaf_key, leaf_scale = (t.detach().requires_grad_(weights is not None) for t in (key, scale))
    size = panel or panel_rows(key)
    lse = torch.empty_like(extra[:, 0])
    grad_query, grad_key_bias, grad_extra = (torch.zeros_like(t) for t in (query, key_bias, extra))
    grad_shared = [torch.zeros_like(t) for t in (key, scale, *parameters)]
    for start in range(0, len(query), size):
        rows = slice(start, min(start + size, len(query)))
        leaf = query[rows].detach().requires_grad_(weights is not None)
        with torch.set_grad_enabled(weights is not None):
            logits = matrix(leaf, leaf_key) * leaf_scale
        values = logits.detach() + key_bias
        for offset in excluded:
            values.diagonal(offset=offset + start).fill_(-torch.inf)
        joined = torch.cat([values, extra[rows]], dim=1)
        largest = joined.amax(dim=1, keepdim=True)
        share = beside_one(joined.sub_(largest))
        total = share.sum(dim=1, keepdim=True)
        lse[rows] = (total.log() + largest).squeeze(1)
        if weights is None:
            continue
        share.mul_(weights[rows, None] / total)
        grad_tile, grad_extra[rows] = share[:, : len(key)], share[:, len(key) :]
        grad_key_bias += grad_tile.sum(dim=0)
        gradients = torch.autograd.grad(
            logits, (leaf, leaf_key, leaf_scale, *parameters), grad_tile, allow_unused=True
        )
        grad_query[rows] = 0 if gradients[0] is None else gradients[0]
        for accumulated, gradient in zip(grad_shared, gradients[1:], strict=True):
            if gradient is not None:
                accumulated += gradient
    if weights is None:
        return Swept(lse, None)
    grad_key, grad_scale, *grad_parameters = grad_shared
    return Swept(lse, (grad_query, grad_key, grad_scale, grad_key_bias, grad_extra, *grad_parameters))
