"""Newton's method with damping, for convex losses of few parameters."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Curvature = Callable[[], Tensor]


def damped_newton(
    derivatives: Callable[[Tensor], tuple[float, Tensor, Curvature]],
    start: Tensor,
    pull: Tensor,
    *,
    passes: int,
    enough: float,
) -> tuple[Tensor, float]:
    """Minimise a convex loss plus a ridge ½Σ pull·(parameters − start)².

    The ridge gives a loss a minimum that has none, as where hardly any positive is mistaken for a negative. A
    strong one would hold back a search that starts far away.

    Example:
        >>> def loss(x):
        ...     return float(x.exp().sum() - 3 * x.sum()), x.exp() - 3, lambda: torch.diag(x.exp())
        >>> start = torch.zeros(2, dtype=torch.float64)
        >>> damped_newton(loss, start, torch.zeros_like(start), passes=20, enough=1e-9)[0].exp()
        tensor([3.0000, 3.0000], dtype=torch.float64)

    Args:
        derivatives: value and slope (k,) of the loss at some parameters (k,), and a function for its
            curvature (k, k) there, which is only called where the value is the lowest so far.
        start: parameters (k,) in float64.
        pull: (k,) of the ridge.
        passes: calls of `derivatives`, at most.
        enough: the search ends when an undamped step promises to lower the loss by less than this.

    Returns:
        The parameters, and the loss at the last ones that were tried (before a step too small to matter).

    """
    parameters = best = start
    lowest = loss_at_best = float("inf")
    slope, curvature, damping = torch.zeros_like(start), torch.diag(torch.ones_like(start)), 0.0
    for _ in range(passes):
        loss, loss_slope, curvature_here = derivatives(parameters)
        away = parameters - start
        value = loss + 0.5 * float(pull @ away.square())
        if value <= lowest:
            lowest, loss_at_best, best = value, loss, parameters
            slope, curvature = loss_slope + pull * away, curvature_here() + torch.diag(pull)
            damping = damping / 10 if damping > 1e-3 else 0.0
        else:
            # Far from the optimum the quadratic model overshoots.
            damping = max(10 * damping, 0.1)
        step = torch.linalg.solve(curvature + damping * torch.diag(curvature.diagonal()), slope)
        if not damping and float(slope @ step) < enough:
            return best - step, loss_at_best
        parameters = best - step
    return best, loss_at_best
