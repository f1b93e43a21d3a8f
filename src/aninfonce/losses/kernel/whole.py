"""InfoNCE of a small batch: the whole matrix of exponentials at once, in as few calls as there can be.

Below some hundred pairs the calls cost more than the arithmetic, and half of the matrix would save little.
That is why constants go into matrix products and into the slope of the loss, where they are free: a number
times a small tensor is a call like any other.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.linalg import vector_norm

from aninfonce.losses.kernel.layout import Form, Layout
from aninfonce.losses.kernel.probes import SMALLEST, Probes
from aninfonce.losses.kernel.scratch import Scratch

_LOG_2 = math.log(2)
# Anchors and candidates up to which this is quicker than half of the matrix in tiles; and where there is no
# half, than tiles alone.
_MOST, _MOST_ACROSS = 512, 1024
# Features up to which a BLAS is quicker with (k, N) than with (N, k).
_FEW = 48
# Largest inner product up to which exponentials leave room for sums.
_LONGEST = 40.0


class Whole(NamedTuple):
    """A loss and, if wanted, its gradient for the points up to a factor."""

    value: Tensor
    """()."""
    gradient: Tensor | None
    """(2N, k), to be multiplied by the factor."""
    factor: float


def is_small(layout: Layout, form: Form, unit: float) -> bool:
    """Whether the logits of points of this squared length are one small block of the matrix of both views."""
    n, candidates, symmetric = layout
    if form == "product" and unit > _LONGEST:
        return False
    if candidates == "both":
        return symmetric and 2 * n <= _MOST
    if candidates == "positives":
        return n <= _MOST_ACROSS
    return candidates == "anchors" and not symmetric and n <= _MOST


def whole_loss(
    layout: Layout,
    form: Form,
    points: Tensor,
    unit: float,
    weight: float,
    probes: Probes,
    *,
    short: bool,
    wanted: bool,
) -> Whole:
    """Σ weight · loss over the anchors.

    Args:
        layout: Which entries are logits.
        form: How logits follow from points.
        points: Both views, (2N, k).
        unit: Multiplies −½‖Δ‖² or the inner product.
        weight: Of each anchor.
        probes: Where to note what decides whether the result is exact.
        short: Whether no point is longer than 1.
        wanted: Whether to find the gradient.

    """
    everyone = layout.candidates == "both"
    first, second = (points, points) if everyone else points.chunk(2)
    side = layout.pairs * (1 + everyone)
    scratch = Scratch(points, 2 * side * side)
    columns = second if layout.candidates == "positives" else first
    entries = _exponents(form, first, columns, unit, scratch.take(side, side), probes, short)
    # If so, no logit is below −40 and no sum too small: one number less to look at.
    short = short and (form == "product" or 2 * unit <= _LONGEST)
    if layout.candidates == "anchors":
        return _within(form, first, second, entries, unit, weight, scratch, probes, short, wanted)
    return _across(layout, form, points, entries, unit, weight, scratch, probes, short, wanted)


def _exponents(
    form: Form, rows: Tensor, columns: Tensor, unit: float, entries: Tensor, probes: Probes, short: bool
) -> Tensor:
    """Logits between all rows and columns in units of log 2."""
    unit /= _LOG_2
    if form == "product":
        if not short:
            for part in (rows,) if rows is columns else (rows, columns):
                probes.at_most(vector_norm(part, dim=1).amax(), math.sqrt(_LONGEST / (unit * _LOG_2)))
        return torch.addmm(entries, rows, columns.T, beta=0, alpha=unit, out=entries)
    of_rows = of_columns = _squares(rows)
    probes.no_cancellation(of_rows.amax(), unit * _LOG_2)
    if columns is not rows:
        of_columns = _squares(columns)
        probes.no_cancellation(of_columns.amax(), unit * _LOG_2)
    torch.add(of_rows, of_columns.T, out=entries)
    return torch.addmm(entries, rows, columns.T, beta=-0.5 * unit, alpha=unit, out=entries)


def _within(
    form: Form,
    first: Tensor,
    second: Tensor,
    entries: Tensor,
    unit: float,
    weight: float,
    scratch: Scratch,
    probes: Probes,
    short: bool,
    wanted: bool,
) -> Whole:
    """Tell positives from the other anchors."""
    entries.exp2_().fill_diagonal_(0.0)
    others = entries.sum(dim=1, keepdim=True)
    if form == "distance":
        step = second - first
        aligned = _squares(step).mul_(-0.5 * unit / _LOG_2)
    else:
        aligned = torch.linalg.vecdot(first, second).unsqueeze(1).mul_(unit / _LOG_2)
    total = others + aligned.exp2()
    if not short:
        probes.at_least(total.amin(), SMALLEST)
    value = total.log().sub_(aligned, alpha=_LOG_2).sum().mul_(weight)
    if not wanted:
        return Whole(value, None, 1.0)
    slope = total.reciprocal_()
    entries.mul_(torch.add(slope, slope.T, out=scratch.take(*entries.shape)))
    gradient = first.new_empty(2 * entries.shape[0], first.shape[1])
    toward, away = gradient.chunk(2)
    pull = others.mul_(slope)
    if form == "product":
        torch.mul(first, pull.neg_(), out=away)
        _product(entries, first, toward).addcmul_(second, pull)
        return Whole(value, gradient, weight * unit)
    # Σ_j G_ij (a_j − a_i): what is taken from a_i stands on the diagonal.
    entries.diagonal().sub_(entries.sum(dim=1))
    torch.mul(step, pull, out=away)
    if first.shape[1] <= _FEW:
        torch.sub(torch.mm(first.T, entries).T, away, out=toward)
    else:
        torch.addmm(away, entries, first, beta=-1, out=toward)
    return Whole(value, gradient, weight * unit)


def _across(
    layout: Layout,
    form: Form,
    points: Tensor,
    entries: Tensor,
    unit: float,
    weight: float,
    scratch: Scratch,
    probes: Probes,
    short: bool,
    wanted: bool,
) -> Whole:
    """Tell positives from those of the others, or from all others: they are entries themselves."""
    n, candidates, symmetric = layout
    everyone = candidates == "both"
    pull = 1.0 + symmetric
    aligned = entries.diagonal(n if everyone else 0).sum()
    entries.exp2_()
    if everyone:
        entries.fill_diagonal_(0.0)
    total = entries.sum(dim=1, keepdim=True)
    if not short:
        probes.at_least(total.amin(), SMALLEST)
    logs, weights = total.log2().sum(), total.reciprocal_()
    if symmetric:
        other = weights.T
        if not everyone:
            total = entries.sum(dim=0)
            if not short:
                probes.at_least(total.amin(), SMALLEST)
            logs, other = logs.add_(total.log2().sum()), total.reciprocal_()
        weights = torch.add(weights, other, out=scratch.take(*entries.shape)) if wanted else weights
    value = logs.sub_(aligned, alpha=pull).mul_(weight * _LOG_2)
    if not wanted:
        return Whole(value, None, 1.0)
    entries.mul_(weights)
    for offset in (n, -n) if everyone else (0,):
        entries.diagonal(offset).sub_(pull)
    gradient = torch.empty_like(points)
    if everyone:
        _product(entries, points, gradient)
    else:
        _product(entries, points[n:], gradient[:n])
        _product(entries.T, points[:n], gradient[n:])
    if form == "distance":
        mass = entries.sum(dim=1) if everyone else torch.cat([entries.sum(dim=1), entries.sum(dim=0)])
        gradient.addcmul_(points, mass[:, None], value=-1)
    return Whole(value, gradient, weight * unit)


def _squares(rows: Tensor) -> Tensor:
    """Squared lengths, (n, 1)."""
    lengths: Tensor = vector_norm(rows, dim=1, keepdim=True)
    return lengths.mul_(lengths)  # for so few numbers, a power takes three times as long


def _product(entries: Tensor, points: Tensor, out: Tensor) -> Tensor:
    """Multiply: entries @ points."""
    if points.shape[1] <= _FEW:
        return out.copy_(torch.mm(points.T, entries.T).T)
    return torch.mm(entries, points, out=out)
