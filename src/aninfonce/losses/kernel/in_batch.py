"""InfoNCE among the embeddings of one batch, by half of a symmetric matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.linalg import vecdot

from aninfonce.losses.kernel.differentiable import Swept
from aninfonce.losses.kernel.half import Half
from aninfonce.losses.kernel.layout import Form, Layout
from aninfonce.losses.kernel.probes import SMALLEST, Probes
from aninfonce.losses.kernel.underflow import can_underflow

_LOG_2 = math.log(2)
# Added to every logit, in units of log 2, once none lies above zero: 2⁸⁶ leaves room for a sum over 2⁴⁰
# entries below the largest float32, and an anchor whose best logit is far below zero keeps its digits.
_LIFT = 86.0
# Sums from which weights of up to one stay finite when they are lifted as well.
_BOOSTED = 2.0**-30


def in_batch_sweep(
    inputs: Sequence[Any],
    weights: Tensor | float | None,
    /,
    *,
    layout: Layout,
    form: Form,
    with_alignment: bool = True,
    probes: Probes | None = None,
    tile: tuple[int, int] | None = None,
) -> Swept:
    """Sweep over the log-sum-exp of each anchor's logits, less the logit of its positive if `with_alignment`.

    Args:
        inputs: Points (2N, k), of which −½‖Δ‖² or the inner product are logits in units of log 2; then, each
            possibly None, biases (points,) of every point as a candidate, biases (anchors,) of the
            positives, and further logits of each anchor (anchors, K).
        weights: Of the anchors; None for no gradients.
        layout: Which entries are logits.
        form: How logits follow from points.
        with_alignment: Subtract the positive's logit.
        probes: Where to note what decides whether the result is exact.
        tile: Rows and columns of a tile; chosen by the device if None.

    """
    points, bias, positive_bias, own = inputs
    first, second, spread = points[: layout.pairs], points[layout.pairs :], points[: layout.points]
    squares, step = _squares(spread), None
    gradient = None if weights is None else torch.empty_like(points)
    lift: Any = _LIFT
    longest = squares.amax()
    if form == "distance":
        if probes is not None:
            probes.no_cancellation(longest, _LOG_2)
        level = squares.mul_(-0.5).add_(_LIFT / 2)
        # A second view without entries has no other gradient than along the step: it is kept there.
        kept = None if gradient is None or layout.points > layout.pairs else gradient[layout.pairs :]
        step = torch.sub(first, second, out=kept)
        positive = _squares(step).mul_(-0.5)
    else:
        lift = _LIFT - longest
        level, positive = (lift / 2).expand_as(squares), vecdot(first, second)
    if layout.symmetric:
        positive = positive.repeat(2)
    if positive_bias is not None:
        positive = positive + positive_bias / _LOG_2
    if bias is not None:
        # A bias of candidates would break the symmetry: both sides get it, and the row's sum is corrected.
        level, lift = level + bias / _LOG_2, lift + bias[: layout.anchors] / _LOG_2
    raised = positive + lift
    underflow = can_underflow(2 * level.amin() - longest - _LIFT)
    matrix = Half(
        spread,
        level,
        layout.blocks,
        exclude_self=layout.candidates != "anchors+self",
        underflow=underflow,
        tile=tile,
    )
    total = matrix.sums(keep=weights is not None)[: layout.anchors]
    # Exponentials outside the matrix, (K, anchors): of positives that it does not hold, and of own logits.
    beside = [] if layout.holds_positives else [raised.exp2()[None]]
    beside += [] if own is None else [(own.T / _LOG_2 + lift).exp2_()]
    for part in beside:
        total += part[0] if len(part) == 1 else part.sum(dim=0)
    least = total.amin()
    if probes is not None:
        probes.at_least(least, SMALLEST)
    rows = total.log2().sub_(raised if with_alignment else lift).mul_(_LOG_2)
    if gradient is None or weights is None:
        return Swept(rows, None)
    one_weight, weights = isinstance(weights, float), weights * _LOG_2
    slope = weights / total
    padded = slope if len(slope) == len(spread) else torch.cat([slope, torch.zeros_like(slope)])
    # An entry times its slope is at most the anchor's weight: lifted again, it is not too small either.
    boost = 2.0**_LIFT if underflow and one_weight and least.item() > _BOOSTED else 1.0
    mass = matrix.gradients(padded, relative=form == "distance", out=gradient[: layout.points], boost=boost)
    shares = [part.mul_(slope) for part in beside]
    grad_bias = None
    if bias is not None:
        grad_bias = mass / _LOG_2
        grad_bias[: layout.anchors] += (sum(part.sum(dim=0) for part in shares) - weights) / _LOG_2
    pull = torch.zeros_like(slope) if layout.holds_positives else shares[0][0]
    if with_alignment:
        pull = pull - weights
    return Swept(
        rows,
        (
            _add_positives(gradient, layout, points, step, pull),
            grad_bias,
            None if positive_bias is None else pull / _LOG_2,
            None if own is None else shares[-1].T / _LOG_2,
        ),
    )


def _squares(rows: Tensor) -> Tensor:
    """Squared lengths, without a copy of the rows."""
    lengths: Tensor = torch.linalg.vector_norm(rows, dim=1)
    return lengths.square_()


def _add_positives(
    gradient: Tensor, layout: Layout, points: Tensor, step: Tensor | None, pull: Tensor
) -> Tensor:
    """Add the gradients of the positives' logits; a second view without entries has no others."""
    n = layout.pairs
    pull = (pull[:n] + pull[n:] if layout.symmetric else pull)[:, None]
    first, second = gradient[:n], gradient[n:]
    if step is None:
        first.addcmul_(points[n:], pull)
        part = points[:n]
    elif layout.points == n:
        first.sub_(second.mul_(pull))  # the step is there already
        return gradient
    else:
        part = step
        first.addcmul_(part, pull, value=-1)
    if layout.points > n:
        second.addcmul_(part, pull)
    else:
        torch.mul(part, pull, out=second)
    return gradient
