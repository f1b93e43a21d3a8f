"""InfoNCE of a small batch: the whole matrix of exponentials at once, in as few calls as possible.

Below some hundred pairs the calls cost more than the arithmetic, and half of the matrix would save little. So
constants go into the length of the points and into the divisors of sums, where they are free: multiplying a
small tensor by a number is a call like any other.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.linalg import vector_norm

from aninfonce._products import biased_product, is_quick, product
from aninfonce.losses.kernel.layout import Form, Layout
from aninfonce.losses.kernel.probes import SMALLEST, Probes
from aninfonce.losses.kernel.scratch import FRESH, number, squares
from aninfonce.losses.kernel.underflow import can_underflow, exponentials, without_faint

_LOG_2 = math.log(2)
# Anchors and candidates up to which this is quicker than half of the matrix in tiles, or than all of it in
# tiles where there is no half.
_MOST, _MOST_ACROSS = 512, 1024
# Features up to which a BLAS is quicker with (k, N) than with (N, k).
_FEW = 48
# Anchors from which a pass over the entries takes longer than twice as many columns in a product.
_NARROW = 256
# Largest inner product up to which exponentials leave room for sums.
_LONGEST = 40.0


class Whole(NamedTuple):
    """A loss, (), and, if wanted, its gradient for the points, (2N, k)."""

    value: Tensor
    gradient: Tensor | None


def is_small(layout: Layout, form: Form, longest: float) -> bool:
    """Whether the logits of points of this squared length are one small block of the matrix of both views."""
    n, candidates, symmetric = layout
    if form == "product" and longest > _LONGEST:
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
    longest: float | None,
    weight: float,
    probes: Probes,
    *,
    wanted: bool,
) -> Whole:
    """Σ weight · loss over the anchors.

    Args:
        layout: Which entries are logits.
        form: How logits, in units of log 2, follow from points: −½‖Δ‖², or the inner product.
        points: Both views, (2N, k); the second view may be overwritten.
        longest: Bound on the logits between equal points, in their own unit, if known.
        weight: Of each anchor.
        probes: Where to note what decides whether the result is exact.
        wanted: Whether to find the gradient.

    """
    memory = squares(points, layout.pairs * (1 + (layout.candidates == "both")))
    # Then no logit is below −40 and no sum too small: one number less to check.
    short = longest is not None and (form == "product" or 2 * longest <= _LONGEST)
    if form == "product" and longest is None:
        probes.at_most(vector_norm(points, dim=1).amax(), math.sqrt(_LONGEST / _LOG_2))
    if layout.candidates == "anchors":
        return _within(form, points, weight, memory, probes, short, wanted)
    return _across(layout, form, points, weight, memory, probes, short, wanted)


def _within(
    form: Form,
    points: Tensor,
    weight: float,
    memory: tuple[Tensor, ...],
    probes: Probes,
    short: bool,
    wanted: bool,
) -> Whole:
    """Tell positives from the other anchors."""
    first, second = points.chunk(2)
    factor, underflow = number(weight * _LOG_2, points), False
    if form == "distance":
        # Lengths of anchors and of steps at once.
        step = second.sub_(first)
        level, aligned = _halves(points).chunk(2)
        longest = level.amin()
        probes.no_cancellation(longest, _LOG_2)
        underflow = not short and can_underflow(4 * longest)
        entries = biased_product(first, first, level, level, memory[0])
    else:
        aligned = torch.linalg.vecdot(first, second).unsqueeze(1)
        entries = product(first, first, memory[0])
    # Kept as a view, since it is needed again below.
    diagonal = exponentials(entries, underflow=underflow).diagonal()
    diagonal.zero_()
    others = entries.sum(dim=1, keepdim=True)
    total = others + aligned.exp2()
    if not short:
        probes.at_least(total.amin(), SMALLEST)
    value = total.log2().sub_(aligned).sum().mul_(factor)
    if not wanted:
        return Whole(value, None)
    slope = factor / total
    pull = others.mul_(slope)
    if form == "distance" and points.shape[1] <= _FEW and entries.shape[0] >= _NARROW:
        away = step.mul_(pull)
        return Whole(value, torch.cat([_narrow(entries, first, slope, pull).sub_(away), away]))
    without_faint(entries.mul_(torch.add(slope, slope.T, out=memory[1])), underflow=underflow)
    if form == "product":
        away = first * pull.neg_()
        return Whole(value, torch.cat([_multiply(entries, first).addcmul_(second, pull), away]))
    # Σ_j G_ij (a_j − a_i): the share of a_i goes on the diagonal.
    diagonal.sub_(entries.sum(dim=1))
    if points.numel() < FRESH or is_quick(entries, first.T):
        away = step.mul_(pull)
        return Whole(value, torch.cat([_multiply(entries, first).sub_(away), away]))
    gradient = torch.empty_like(points)
    toward, away = gradient.chunk(2)
    torch.mul(step, pull, out=away)
    torch.mm(entries, first, out=toward).sub_(away)
    return Whole(value, gradient)


def _across(
    layout: Layout,
    form: Form,
    points: Tensor,
    weight: float,
    memory: tuple[Tensor, ...],
    probes: Probes,
    short: bool,
    wanted: bool,
) -> Whole:
    """Tell positives from those of other anchors, or from all other points: they are entries themselves."""
    n, candidates, symmetric = layout
    everyone = candidates == "both"
    rows, columns = (points, points) if everyone else points.chunk(2)
    factor, underflow = number(weight * _LOG_2, points), False
    if form == "distance":
        level = _halves(points)
        longest = level.amin()
        probes.no_cancellation(longest, _LOG_2)
        underflow = not short and can_underflow(4 * longest)
        of_rows, of_columns = (level, level) if everyone else level.chunk(2)
        entries = biased_product(rows, columns, of_rows, of_columns, memory[0])
    else:
        entries = product(rows, columns, memory[0])
    # Among both views each pair stands twice, once for either anchor.
    pairs = (
        entries.as_strided((2, n), (2 * n * n - n, 2 * n + 1), entries.storage_offset() + n)
        if everyone
        else entries.diagonal()
    )
    aligned = pairs.sum()
    exponentials(entries, underflow=underflow)
    if everyone:
        entries.diagonal().zero_()
    total = entries.sum(dim=1, keepdim=True)
    if not short:
        probes.at_least(total.amin(), SMALLEST)
    logs, weights = total.log2().sum(), factor / total
    if symmetric:
        other = weights.T
        if not everyone:
            total = entries.sum(dim=0)
            if not short:
                probes.at_least(total.amin(), SMALLEST)
            logs, other = logs.add_(total.log2().sum()), factor / total
        weights = torch.add(weights, other, out=memory[1]) if wanted else weights
    once = everyone or not symmetric
    value = (logs.sub_(aligned) if once else logs.sub_(aligned, alpha=2)).mul_(factor)
    if not wanted:
        return Whole(value, None)
    without_faint(entries.mul_(weights), underflow=underflow)
    pairs.sub_(number((1.0 + symmetric) * weight * _LOG_2, points))
    if everyone:
        gradient = _multiply(entries, points)
    else:
        gradient = torch.empty_like(points)
        gradient[:n] = _multiply(entries, columns)
        # Feature-major, so that no copy of the entries is made.
        gradient[n:] = product(rows.T, entries.T).T
    if form == "distance":
        mass = entries.sum(dim=1) if everyone else torch.cat([entries.sum(dim=1), entries.sum(dim=0)])
        gradient.addcmul_(points, mass[:, None], value=-1)
    return Whole(value, gradient)


def _halves(points: Tensor) -> Tensor:
    """−½ of squared lengths, (n, 1)."""
    lengths: Tensor = vector_norm(points, dim=1, keepdim=True)
    # For so few numbers, a power takes three times as long.
    return lengths.mul_(lengths).mul_(number(-0.5, points))


def _narrow(entries: Tensor, first: Tensor, slope: Tensor, pull: Tensor) -> Tensor:
    """Σ_j K_ij (v_i + v_j) (a_j − a_i), without a pass over the entries to weight them.

    It is v_i (Ka)_i + (Kva)_i − a_i (v_i Σ_j K_ij + (Kv)_i): one product with twice as many columns.

    Args:
        entries: K, (N, N).
        first: a, (N, k).
        slope: v, (N, 1).
        pull: v_i Σ_j K_ij, (N, 1).

    """
    k = first.shape[1]
    factors = torch.cat([first, first * slope, slope], 1)
    found = product(factors.T, entries).T
    near, weighted, mass = found[:, :k], found[:, k:-1], found[:, -1:]
    return torch.addcmul(weighted, near, slope).addcmul_(first, mass + pull, value=-1)


def _multiply(entries: Tensor, points: Tensor) -> Tensor:
    """Multiply (m, n) by (n, k)."""
    if points.shape[1] <= _FEW:
        return product(points.T, entries).T
    return product(entries, points.T)
