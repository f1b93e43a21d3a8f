"""InfoNCE of a batch as one operation, from embeddings to their gradients.

Normalisation and similarity cost little beside the matrix if the batch is large, and little beside their
calls if it is small. As one operation with the loss they share results and hold few copies of the batch.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.linalg import vecdot, vector_norm

from aninfonce.losses.kernel.differentiable import FIRST_ONLY
from aninfonce.losses.kernel.in_batch import in_batch_sweep
from aninfonce.losses.kernel.layout import Form, Layout
from aninfonce.losses.kernel.probes import Probes
from aninfonce.losses.kernel.scratch import FRESH, Scratch, number
from aninfonce.losses.kernel.whole import is_small, whole_loss

_ROOT_LOG_2 = math.sqrt(math.log(2))
# exp(½x) is 2 to the power of this times x. The loss takes powers of 2 too, so their code is in use anyway.
_HALF_LOG2_E = 0.5 / math.log(2)


class Fused(NamedTuple):
    """What is asked for: logits are −½‖Δ‖² or the inner product of points z · length · scale."""

    layout: Layout
    form: Form
    weight: float
    """Of each anchor."""
    length: float
    """Multiplies the embeddings, after scaling to unit length if asked."""
    floor: float | None
    """Rows of at most this length become zero; None for no normalisation."""
    probes: Probes
    """Where to note what decides whether the result is exact."""
    logarithm: bool = False
    """Whether the scale is given as the logarithm of its square, as a parameter often is: its gradient then
    follows from one that is needed anyway."""


def fused_loss(z0: Tensor, z1: Tensor, scale: Tensor | None, fused: Fused) -> Tensor:
    """Σ weight · loss over the anchors, (), for two views (N, d) and a scale (d,), () or none."""
    # `Function.apply` would look for transforms of `torch.func` first; callers have done so.
    result: Tensor = super(torch.autograd.Function, _FusedLoss).apply(z0, z1, scale, fused)  # type: ignore[no-untyped-call]
    return result


def _room(z0: Tensor, z1: Tensor) -> Scratch | None:
    """Memory for two copies of both views; None if they are so small that fresh memory is as quick."""
    entries = 2 * z0.numel()
    if entries < FRESH or z0.dtype is not z1.dtype or z0.dtype not in (torch.float32, torch.float64):
        return None
    return Scratch(z0, 2 * entries, "rows")


def _lengths(*views: Tensor) -> Tensor:
    """Lengths of the rows of all views, (2N, 1)."""
    return torch.cat([vector_norm(z, dim=1, keepdim=True) for z in views])


class _FusedLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z0: Tensor, z1: Tensor, scale: Tensor | None, fused: Fused) -> Tensor:
        layout, form, weight, length, floor, probes, logarithm = fused
        small, longest = is_small(layout, form, length**2), length**2
        length /= _ROOT_LOG_2
        memory = _room(z0, z1)
        rows = torch.cat([z0, z1]) if memory is None else memory.take(2 * z0.shape[0], z0.shape[1])
        if rows.dtype not in (torch.float32, torch.float64):
            rows = rows.float()
        if scale is not None and logarithm:
            # The length goes along with the scale.
            scale = torch.add(number(math.log2(length), rows), scale, alpha=_HALF_LOG2_E).exp2_()
            length = 1.0
        size, of_rows, unit = None, 1.0, 1.0
        if floor is not None:
            size = vector_norm(rows, dim=1, keepdim=True) if memory is None else _lengths(z0, z1)
            # A row whose length overflows must not pass for a row of zeros.
            probes.finite(size.amax())
            size = torch.threshold(size, floor, torch.inf)
            if length != 1:
                size.mul_(number(1 / length, rows))
            if memory is None:
                rows.div_(size)
            else:
                for z, of_z, part in zip((z0, z1), size.chunk(2), rows.chunk(2), strict=True):
                    torch.div(z, of_z, out=part)
        else:
            if memory is not None:
                torch.cat([z0, z1], out=rows)
            if form == "distance":
                # Distances do not change with the origin, but their rounding does.
                rows.sub_(rows.mean(dim=0))
            if scale is None:
                rows.mul_(length)
                of_rows = length
            elif length != 1:
                scale, unit = scale * length, length
        points = rows
        if scale is not None:
            points = rows * scale if memory is None else torch.mul(rows, scale, out=memory.take(*rows.shape))
        elif size is not None and form == "distance":
            points = rows.clone()  # the points may be overwritten, and the rows are needed again
        wanted = any(ctx.needs_input_grad)
        if small:
            known = longest if floor is not None and scale is None else None
            value, gradient = whole_loss(layout, form, points, known, weight, probes, wanted=wanted)
        else:
            inputs, weights = (points, None, None, None), weight if wanted else None
            terms, gradients = in_batch_sweep(inputs, weights, layout=layout, form=form, probes=probes)
            value, gradient = terms.sum() * weight, gradients[0] if gradients else None
        if gradient is None:
            return value
        of_scale, along = None, None
        if scale is not None and logarithm:
            product, unit = torch.mul(rows, gradient.mul_(scale), out=points), 0.5
            of_scale = product.sum(dim=0)
            along = None if size is None else product.sum(dim=1, keepdim=True)
        elif scale is not None:
            product = torch.mul(gradient, rows, out=points)
            of_scale = product.sum(dim=0) if scale.ndim else product.sum()
            if size is not None:
                along = (torch.mv(product, scale) if scale.ndim else product.sum(dim=1) * scale).unsqueeze(1)
            gradient.mul_(scale)
        if size is not None:
            along = vecdot(rows, gradient).unsqueeze(1) if along is None else along
            gradient.addcmul_(rows, along, value=-(length**-2))
        # A factor and a division of the rows are left to `backward`, together with the slope of the loss.
        ctx.save_for_backward(gradient, size, of_scale)
        ctx.dtypes, ctx.factors = (z0.dtype, z1.dtype), (of_rows, unit)
        return value

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise RuntimeError(FIRST_ONLY)
        gradient, size, of_scale = ctx.saved_tensors
        of_rows, of_columns = ctx.factors
        slope = grads[0] if of_rows == 1 else grads[0] * number(of_rows, grads[0])
        if of_scale is not None:
            of_scale = of_scale * (grads[0] if of_columns == 1 else grads[0] * number(of_columns, grads[0]))
        first, second = (gradient * (slope if size is None else slope / size)).chunk(2)
        if first.dtype != ctx.dtypes[0] or second.dtype != ctx.dtypes[1]:
            first, second = first.to(ctx.dtypes[0]), second.to(ctx.dtypes[1])
        return first, second, of_scale, None
