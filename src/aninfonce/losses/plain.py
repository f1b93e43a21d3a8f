"""A shortcut for the usual call: below some hundred pairs, checks take as long as the loss."""

from __future__ import annotations

import math

import torch
import torch.distributed as dist
from torch import Tensor

from aninfonce.losses._prepare import shortest
from aninfonce.losses.kernel.fused import Fused, fused_loss
from aninfonce.losses.kernel.layout import Layout
from aninfonce.losses.kernel.probes import Probes
from aninfonce.losses.kernel.whole import is_small
from aninfonce.similarities import Similarity

_LAYOUTS = ("anchors", "positives", "both")


def plain_loss(
    z0: Tensor,
    z1: Tensor,
    similarity: object,
    temperature: object,
    symmetric: bool,
    candidates: object,
    normalize: bool,
    reduction: object,
) -> Tensor | None:
    """Give the loss, (), of a small float32 batch of one process, with nothing beside the two views.

    Arguments are those of `info_nce`, unchecked. None if this is another kind of call, or if the shortcut is
    not exact: the usual way then computes the loss, or says what is wrong.
    """
    if type(z0) is not Tensor or type(z1) is not Tensor or not isinstance(similarity, Similarity):
        return None
    shape, form, dim = z0.shape, similarity.form, similarity.dim
    if len(shape) != 2 or z1.shape != shape or z0.dtype is not torch.float32 or z1.dtype is not torch.float32:
        return None
    n, width = shape
    if n < 2 or width < 1 or (dim is not None and dim != width) or form is None or z0.device != z1.device:
        return None
    if type(temperature) is not float or not 0 < temperature < math.inf or candidates not in _LAYOUTS:
        return None
    if reduction not in ("mean", "sum") or type(symmetric) is not bool:
        return None
    if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active():
        return None
    if torch._C._is_any_autocast_enabled() or (dist.is_available() and dist.is_initialized()):
        return None
    scale = similarity.log_of_squared_scale(torch.float32)
    logarithm, length = scale is not None, temperature**-0.5
    if scale is None:
        given = similarity.scale_of_columns(torch.float32)
        if given is None:
            return None
        if isinstance(given, Tensor):
            scale = given
        else:
            length *= given
    layout = Layout(n, candidates, symmetric)  # type: ignore[arg-type]
    if not is_small(layout, form, length**2):
        return None
    probes, weight = Probes(), 1.0 / layout.anchors if reduction == "mean" else 1.0
    floor = shortest(torch.float32) if normalize else None
    value = fused_loss(z0, z1, scale, Fused(layout, form, weight, length, floor, probes, logarithm))
    probes.finite(value)
    return value if probes.hold() else None
