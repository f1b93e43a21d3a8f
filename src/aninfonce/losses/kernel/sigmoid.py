"""Sigmoid loss of all pairs of two thin matrices, and its gradients, panel by panel.

A pair with logit s costs softplus(s), or softplus(−s) if it belongs together. Pairs do not depend on each
other, so one pass over panels of whole rows finds values and gradients: three matrix products in all. As in
`panels`, everything is feature-major, and the bias is one more feature: a row of ones in the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import softplus

from aninfonce.losses.kernel.differentiable import Swept
from aninfonce.losses.kernel.panels import panel_rows
from aninfonce.losses.kernel.scratch import Scratch

# Beyond this, softplus(s) is s to the last digit of float64.
_LINEAR = 40.0


def sigmoid_sweep(
    inputs: Sequence[Any],
    weights: Tensor | float | None,
    /,
    *,
    first: int = 0,
    panel: int | None = None,
) -> Swept:
    """Sweep over logits query @ key.T + bias, of which those of row i and column first + i belong together.

    Args:
        inputs: query (N, k), key (M, k), bias ().
        weights: One for all rows, or (N,), or None for no gradients.
        first: Column of the first row's partner.
        panel: Rows per panel; chosen by the device's cache if None.

    Returns:
        Loss of each row, summed over the columns, and the gradients if asked.

    """
    query, key, bias = inputs
    if isinstance(weights, float):
        weights = torch.full_like(query[:, 0], weights)
    n, m = query.shape[0], key.shape[0]
    queries = torch.cat([query.T, bias.reshape(1, 1).expand(1, n)])
    keys_by_row = torch.cat([key, torch.ones_like(key[:, :1])], dim=1)
    keys = keys_by_row.T.contiguous()
    losses = torch.empty_like(query[:, 0])
    grad_queries, grad_keys = torch.empty_like(queries), torch.zeros_like(keys)
    size = min(panel or panel_rows(key), n)
    scratch = Scratch(key, 2 * m * size)
    buffers = scratch.take(m * size), scratch.take(m * size)
    for start in range(0, n, size):
        rows = slice(start, min(start + size, n))
        part = queries[:, rows]
        tile, terms = (buffer[: m * part.shape[1]].view(m, -1) for buffer in buffers)
        torch.mm(keys_by_row, part, out=tile)
        partners = tile.diagonal(offset=-(first + start))
        together = partners.clone()
        partners.fill_(-torch.inf)
        torch.ops.aten.softplus.out(tile, 1, _LINEAR, out=terms)
        losses[rows] = terms.sum(dim=0) + softplus(-together, threshold=_LINEAR)
        if weights is None:
            continue
        tile.sigmoid_()
        partners.copy_(-torch.sigmoid(-together))
        tile.mul_(weights[rows])
        grad_queries[:, rows] = torch.mm(keys, tile)
        grad_keys.addmm_(part, tile.T)
    if weights is None:
        return Swept(losses, None)
    return Swept(losses, (grad_queries[:-1].T, grad_keys[:-1].T, grad_queries[-1].sum().reshape(bias.shape)))
