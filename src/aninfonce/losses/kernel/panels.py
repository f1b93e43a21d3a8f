"""Log-sum-exp over the rows of a product of two thin matrices, and its gradients, panel by panel.

Only one panel of exponentials exists at a time, so memory is O(M · panel) and never N × M. A panel
holds whole rows, so their normalisers are known at once, and the gradients of a weighted sum of the
rows need no second pass: three matrix products and one exponential per entry in all. Everything is
kept feature-major, (k, N): with few features a BLAS is several times slower the other way. Inside, logits
are in units of log 2: torch's exp2 is twice as fast as its exp, and about ten times where the result
underflows, as it does for most entries once concentrations are large.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from aninfonce._products import product
from aninfonce.losses.kernel.differentiable import Swept
from aninfonce.losses.kernel.probes import SMALLEST, Probes
from aninfonce.losses.kernel.underflow import exponentials

# Entries of a panel: one that fits a CPU's last-level cache; one that keeps a GPU busy.
_CPU_ENTRIES = 2**20
_GPU_ENTRIES = 2**25
# Thinner panels waste the matrix products.
_FEWEST_ROWS = 64

_LOG_2 = math.log(2)
# 2⁸⁶ leaves room for a sum over 2⁴¹ entries below the largest float32.
_HEADROOM = 86.0


def panel_sweep(
    inputs: Sequence[Any],
    weights: Tensor | float | None,
    /,
    *,
    excluded: Sequence[int] = (),
    panel: int | None = None,
    probes: Probes | None = None,
    capped: bool = False,
) -> Swept:
    """Sweep over logits query @ key.T + query_bias[:, None] + key_bias, joined with `extra`.

    Args:
        inputs: query (N, k), key (M, k), query_bias (N,), key_bias (M,), extra (N, K) with K ≥ 1.
        weights: One for all rows, or (N,), or None for no gradients.
        excluded: For each offset o, row i leaves out column o + i.
        panel: Rows per panel; chosen by the device's cache if None.
        probes: Where to note whether a bound on the largest logit of each row was tight enough. Without them
            the largest is found first, which takes one more pass.
        capped: Whether query @ key.T + query_bias is known never to exceed 0: a better bound.

    Returns:
        log Σⱼ exp(logit) of each row, and the gradients if asked.

    """
    query, key, query_bias, key_bias, extra = inputs
    if isinstance(weights, float):
        weights = torch.full_like(query_bias, weights)
    query, query_bias, key_bias, extra = (part / _LOG_2 for part in (query, query_bias, key_bias, extra))
    problem = _Problem(query, key, query_bias, key_bias, extra, tuple(excluded), panel)
    if probes is None:
        shift = _row_maximum(problem)
        total, gradients = _sweep(problem, shift, weights, fold=False)
    else:
        # Only for extreme logits is the bound too loose, by a hundred and more.
        bound = key_bias.amax() if capped else _upper_bound(query, key, query_bias, key_bias)
        shift = torch.maximum(bound - _HEADROOM, extra.amax(dim=1))
        total, gradients = _sweep(problem, shift, weights)
        probes.at_least(total.amin(), SMALLEST)
    return Swept((total.log2() + shift) * _LOG_2, gradients)


class _Problem(NamedTuple):
    """All but the key in units of log 2."""

    query: Tensor
    key: Tensor
    query_bias: Tensor
    key_bias: Tensor
    extra: Tensor
    excluded: tuple[int, ...]
    panel: int | None

    def augmented(self, shift: Tensor) -> tuple[Tensor, Tensor]:
        """Fold biases and shift into the product: (N, k + 2) and (M, k + 2)."""
        query_bias, key_bias = (self.query_bias - shift)[:, None], self.key_bias[:, None]
        query = torch.cat([self.query, torch.ones_like(query_bias), query_bias], dim=1)
        return query, torch.cat([self.key, key_bias, torch.ones_like(key_bias)], dim=1)

    def panels(self) -> Iterator[tuple[int, int]]:
        """First and last row of each panel."""
        n = len(self.query)
        size = self.panel or panel_rows(self.key)
        return ((start, min(start + size, n)) for start in range(0, n, size))


def panel_rows(key: Tensor) -> int:
    """Give the rows per panel for which its entries fit the device's cache."""
    entries = _CPU_ENTRIES if key.device.type == "cpu" else _GPU_ENTRIES
    return max(_FEWEST_ROWS, entries // len(key) // 8 * 8)


def _upper_bound(query: Tensor, key: Tensor, query_bias: Tensor, key_bias: Tensor) -> Tensor:
    """Bound the logits of each row from above, by Cauchy and Schwarz."""
    lengths: Tensor = torch.linalg.vector_norm(query, dim=1) * torch.linalg.vector_norm(key, dim=1).amax()
    return lengths + query_bias + key_bias.amax()


def _exclude(tile: Tensor, excluded: Sequence[int], start: int, value: float) -> None:
    """Fill the left-out entries of a (M, rows) tile whose first row is `start`."""
    for offset in excluded:
        tile.diagonal(offset=-(offset + start)).fill_(value)


def _sweep(
    problem: _Problem, shift: Tensor, weights: Tensor | None, *, fold: bool = True
) -> tuple[Tensor, tuple[Tensor, ...] | None]:
    """Sum of 2^(logit − shift) for each row and, with weights, all gradients.

    Folded into the product, the shift costs nothing; subtracted afterwards, it is exact.
    """
    queries, keys_by_row = problem.augmented(shift if fold else torch.zeros_like(shift))
    key = keys_by_row.T.contiguous()
    extra = (problem.extra - shift[:, None]).exp2_()
    total = extra.sum(dim=1)
    # The last feature of a key is 1, so the last row of key @ tile is the sum of the tile.
    probe = key[-1:] if weights is None else key
    grad_query, grad_key = key.new_empty(key.shape[0], queries.shape[0]), torch.zeros_like(key)
    factor = torch.empty_like(total)
    buffer = _buffer(problem)
    for start, stop in problem.panels():
        part = queries[start:stop]
        tile = product(keys_by_row, part, buffer[: len(keys_by_row) * (stop - start)].view(-1, stop - start))
        if not fold:
            tile -= shift[start:stop]
        exponentials(tile, underflow=tile.device.type == "cpu")
        _exclude(tile, problem.excluded, start, 0.0)
        found = product(probe, tile.T)
        total[start:stop] += found[-1]
        if weights is not None:
            factor[start:stop] = weights[start:stop] / total[start:stop]
            grad_query[:, start:stop] = found.mul_(factor[start:stop])
            grad_key.add_(product((part * factor[start:stop, None]).T, tile))
    if weights is None:
        return total, None
    return total, (
        grad_query[:-2].T,
        grad_key[:-2].T * _LOG_2,  # of the key alone, which has no unit
        grad_query[-1],
        grad_key[-2],
        extra.mul_(factor[:, None]),
    )


def _row_maximum(problem: _Problem) -> Tensor:
    """Largest logit of each row."""
    largest = problem.extra.amax(dim=1)
    queries, keys_by_row = problem.augmented(torch.zeros_like(largest))
    for start, stop in problem.panels():
        tile = product(keys_by_row, queries[start:stop])
        _exclude(tile, problem.excluded, start, -torch.inf)
        largest[start:stop] = torch.maximum(largest[start:stop], tile.amax(dim=0))
    return largest


def _buffer(problem: _Problem) -> Tensor:
    """Memory for one panel, used again for each."""
    start, stop = next(problem.panels())
    return problem.key.new_empty(len(problem.key) * (stop - start))
