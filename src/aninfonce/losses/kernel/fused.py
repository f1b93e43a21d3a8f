"""InfoNCE of a batch as one operation, from embeddings to their gradients.

Normalisation and similarity are cheap beside the matrix if the batch is large, and beside the calls they take
if it is small: as one operation with the loss they share what they compute, and hold few copies of the batch.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.linalg import vecdot

from aninfonce.losses.kernel.differentiable import FIRST_ONLY
from aninfonce.losses.kernel.in_batch import in_batch_sweep
from aninfonce.losses.kernel.layout import Form, Layout
from aninfonce.losses.kernel.probes import Probes
from aninfonce.losses.kernel.whole import is_small, whole_loss


class Fused(NamedTuple):
    """What is asked for: logits are −½‖Δ‖² or the inner product of points z · length · scale."""

    layout: Layout
    form: Form
    weight: float
    """Of each anchor."""
    length: float
    """Multiplies the embeddings, after they have been brought to unit length if asked."""
    floor: float | None
    """Rows of at most this length become zero; None for no normalisation."""
    probes: Probes
    """Where to note what decides whether the result is exact."""


def fused_loss(z0: Tensor, z1: Tensor, scale: Tensor | None, fused: Fused) -> Tensor:
    """Σ weight · loss over the anchors, (), for two views (N, d) and a scale (d,), () or none."""
    result: Tensor = _FusedLoss.apply(z0, z1, scale, fused)  # type: ignore[no-untyped-call]
    return result


class _FusedLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z0: Tensor, z1: Tensor, scale: Tensor | None, fused: Fused) -> Tensor:
        layout, form, weight, length, floor, probes = fused
        small = is_small(layout, form, length)
        if not small:
            length /= math.sqrt(math.log(2))  # logits in units of log 2: exp2 is quicker than exp
        rows = torch.cat([z0, z1])
        if rows.dtype not in (torch.float32, torch.float64):
            rows = rows.float()
        size = None
        if floor is not None:
            size = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
            # A row too long for its precision has an infinite size, and must not pass for one of zeros.
            probes.finite(size.amax())
            size = torch.threshold(size, floor, torch.inf)
            rows = rows.div_(size if length == 1 else size.mul_(1 / length))
        else:
            if form == "distance":
                # Distances do not change with the origin, but their rounding does.
                rows = rows.sub_(rows.mean(dim=0))
            rows = rows if length == 1 else rows.mul_(length)
        points = rows if scale is None else rows * scale
        wanted = any(ctx.needs_input_grad)
        if small:
            value, gradient = whole_loss(layout, form, points, weight, probes, wanted=wanted)
        else:
            inputs, weights = (points, None, None, None), weight if wanted else None
            terms, gradients = in_batch_sweep(inputs, weights, layout=layout, form=form, probes=probes)
            value, gradient = terms.sum() * weight, gradients[0] if gradients else None
        if gradient is None:
            return value
        of_scale = None
        if scale is not None:
            product = torch.mul(gradient, rows, out=points)  # these are no longer needed
            of_scale = product.sum(dim=0) if scale.ndim else product.sum()
            gradient.mul_(scale)
        if size is None:
            size = rows.new_full((1, 1), 1 / length)
        else:
            along = vecdot(rows, gradient) if scale is None else _weighted_sums(product, scale)
            gradient.addcmul_(rows, along[:, None], value=-(length**-2))
        # What is left, a division of the rows, goes with the slope of the loss.
        ctx.save_for_backward(gradient, size, of_scale)
        ctx.dtypes = z0.dtype, z1.dtype
        return value

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise RuntimeError(FIRST_ONLY)
        gradient, size, of_scale = ctx.saved_tensors
        first, second = (gradient * (grads[0] / size)).chunk(2)
        of_scale = None if of_scale is None else of_scale * grads[0]
        return first.to(ctx.dtypes[0]), second.to(ctx.dtypes[1]), of_scale, None


def _weighted_sums(rows: Tensor, weights: Tensor) -> Tensor:
    """Sum each row with weights (d,), or with one for all columns."""
    return torch.mv(rows, weights) if weights.ndim else rows.sum(dim=1) * weights
