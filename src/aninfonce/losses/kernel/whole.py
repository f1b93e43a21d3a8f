"""InfoNCE of a small batch: the whole matrix of exponentials at once, in as few calls as there can be.

Below some hundred pairs the calls cost more than the arithmetic, and half of the matrix would save nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.linalg import vecdot

from aninfonce.losses.kernel.layout import Form, Layout
from aninfonce.losses.kernel.probes import SMALLEST, Probes

# Anchors and candidates up to which this is quicker than half of the matrix in tiles.
_MOST = 512
# Squared length of points up to which exponentials of their inner products leave room for sums.
_LONGEST = 40.0


def is_small(layout: Layout, form: Form, length: float) -> bool:
    """Whether the logits of points of this length are one small block of the matrix of both views."""
    n, candidates, symmetric = layout
    if form == "product" and length**2 > _LONGEST:
        return False
    if candidates == "both":
        return symmetric and 2 * n <= _MOST
    return n <= _MOST and (candidates == "positives" or (candidates == "anchors" and not symmetric))


def whole_loss(
    layout: Layout, form: Form, points: Tensor, weight: float, probes: Probes, *, wanted: bool
) -> tuple[Tensor, Tensor | None]:
    """Σ weight · loss over the anchors, (), and its gradient for the points (2N, k) if wanted."""
    way = _within if layout.candidates == "anchors" else _across
    return way(layout, form, points, weight, probes, wanted)


def _within(
    layout: Layout, form: Form, points: Tensor, weight: float, probes: Probes, wanted: bool
) -> tuple[Tensor, Tensor | None]:
    """Tell positives from the other anchors."""
    first, second = points[: layout.pairs], points[layout.pairs :]
    squares = vecdot(first, first)
    entries = _logits(form, first, first, squares, squares, probes).exp_().fill_diagonal_(0.0)
    if form == "distance":
        step = first - second
        aligned = vecdot(step, step).mul_(-0.5)
    else:
        aligned = vecdot(first, second)
    beside = aligned.exp()
    total = entries.sum(dim=1).add_(beside)
    probes.at_least(total.amin(), SMALLEST)
    value = (total.log() - aligned).sum() * weight
    if not wanted:
        return value, None
    slope = weight / total
    entries.mul_(slope[:, None] + slope)
    flow = torch.mm(entries, first)
    pull = beside.mul_(slope).sub_(weight)[:, None]
    if form == "product":
        return value, torch.cat([flow.addcmul_(second, pull), first * pull])
    flow.addcmul_(first, entries.sum(dim=1)[:, None], value=-1)
    step.mul_(pull)
    return value, torch.cat([flow.sub_(step), step])


def _across(
    layout: Layout, form: Form, points: Tensor, weight: float, probes: Probes, wanted: bool
) -> tuple[Tensor, Tensor | None]:
    """Tell positives from those of the others, or from all others: they are entries themselves."""
    n, candidates, symmetric = layout
    everyone = candidates == "both"
    rows, columns = (points, points) if everyone else (points[:n], points[n:])
    squares = vecdot(points, points)
    logits = _logits(form, rows, columns, squares[: len(rows)], squares[-len(columns) :], probes)
    aligned = logits.diagonal(n if everyone else 0).sum()
    entries = logits.exp_().fill_diagonal_(0.0) if everyone else logits.exp_()
    total = entries.sum(dim=1)
    probes.at_least(total.amin(), SMALLEST)
    logs, slope = total.log().sum(), weight / total
    weights = slope[:, None] + slope if everyone else slope[:, None]
    if symmetric and not everyone:
        total = entries.sum(dim=0)
        probes.at_least(total.amin(), SMALLEST)
        logs, weights = logs + total.log().sum(), weights + weight / total
    pull = weight * (1 + symmetric)
    value = logs * weight - aligned * pull
    if not wanted:
        return value, None
    entries.mul_(weights)
    for offset in (n, -n) if everyone else (0,):
        entries.diagonal(offset).sub_(pull)
    if everyone:
        gradient = torch.mm(entries, points)
    else:
        gradient = torch.cat([torch.mm(entries, columns), torch.mm(entries.T, rows)])
    if form == "distance":
        mass = entries.sum(dim=1) if everyone else torch.cat([entries.sum(dim=1), entries.sum(dim=0)])
        gradient.addcmul_(points, mass[:, None], value=-1)
    return value, gradient


def _logits(
    form: Form, rows: Tensor, columns: Tensor, of_rows: Tensor, of_columns: Tensor, probes: Probes
) -> Tensor:
    """Logits between all rows and columns, given their squared lengths, whose largest are noted."""
    for squares in (of_rows,) if of_rows is of_columns else (of_rows, of_columns):
        if form == "distance":
            probes.no_cancellation(squares.amax())
        else:
            probes.at_most(squares.amax(), _LONGEST)
    if form == "product":
        return torch.mm(rows, columns.T)
    return torch.addmm(of_columns, rows, columns.T, beta=-0.5).sub_(of_rows[:, None], alpha=0.5)
