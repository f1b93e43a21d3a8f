"""Losses whose logits all lie in one symmetric matrix: half of it is enough."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from aninfonce.losses._batch import Batch
from aninfonce.losses._prepare import inverse_temperature, potential_values, shortest, to_working
from aninfonce.losses.kernel.differentiable import differentiable
from aninfonce.losses.kernel.fused import Fused, fused_loss
from aninfonce.losses.kernel.half import kept_entries
from aninfonce.losses.kernel.in_batch import in_batch_sweep
from aninfonce.losses.kernel.layout import Layout
from aninfonce.losses.kernel.probes import Probes
from aninfonce.similarities import Similarity

_LOG_2 = math.log(2)


def lies_in_one_matrix(batch: Batch) -> bool:
    """Whether all in-batch logits are entries of the similarity matrix of both views, and it is worth it."""
    similarity, first, second = batch.similarity, *batch.potentials
    if not isinstance(similarity, Similarity) or similarity.form is None or batch.candidates == "none":
        return False
    shared = batch.negatives is not None and batch.negatives.ndim == 2
    if batch.shard.processes > 1 or batch.ratios is not None or shared:
        return False
    if batch.symmetric:
        # Two potentials would give an entry across the views two values.
        return batch.candidates != "both" or first is second
    # If only one view looks at the other there is nothing to halve. The matrix is then used only while it is
    # far smaller than what can be kept; beyond that, panels are as quick.
    return batch.candidates != "positives" or 4 * len(batch.z0) ** 2 <= kept_entries(batch.z0)


def one_matrix_terms(batch: Batch, probes: Probes, *, split: bool) -> tuple[Tensor, ...]:
    """Alignment and uniformity, or their sum alone if they need not be split."""
    assert isinstance(batch.similarity, Similarity)
    assert batch.candidates != "none"
    layout = Layout(batch.z0.shape[0], batch.candidates, batch.symmetric)
    plain = batch.negatives is None and batch.potentials[0] is None and batch.reduction != "none"
    if plain and not split and not torch._C._are_functorch_transforms_active():
        value = _in_one_operation(batch, batch.similarity, layout, probes)
        if value is not None:
            return (value,)
    return _in_several(batch, batch.similarity, layout, probes, split=split)


def _in_one_operation(batch: Batch, similarity: Similarity, layout: Layout, probes: Probes) -> Tensor | None:
    """Give the loss; None if the similarity does more than scale the columns."""
    z0, z1, temperature, weight = batch.z0, batch.z1, batch.temperature, batch.weight
    assert similarity.form is not None
    assert weight is not None
    working = z0.dtype
    if working is not torch.float32 or z1.dtype is not torch.float32:
        working = torch.promote_types(torch.promote_types(working, z1.dtype), torch.float32)
    learned = isinstance(temperature, Tensor)
    logarithm = None if learned else similarity.log_of_squared_scale(working)
    scale, length = similarity.scale_of_columns(working) if logarithm is None else logarithm, 1.0
    if scale is None:
        return None
    if isinstance(temperature, Tensor):
        scale = scale * temperature.to(working).reshape(()).rsqrt()
    else:
        length = temperature**-0.5
    if not isinstance(scale, Tensor):
        length, scale = length * scale, None
    floor = shortest(z0.dtype, z1.dtype) if batch.normalize else None
    fused = Fused(layout, similarity.form, weight, length, floor, probes, logarithm is not None)
    return fused_loss(z0, z1, scale, fused)


def _in_several(
    batch: Batch, similarity: Similarity, layout: Layout, probes: Probes, *, split: bool
) -> tuple[Tensor, ...]:
    """Terms of any such loss."""
    assert similarity.form is not None
    rows = to_working(torch.cat([batch.z0, batch.z1]), batch.normalize, probes=probes)
    distance, inverse = similarity.form == "distance", inverse_temperature(batch.temperature, rows)
    # Distances do not change with the origin, but their rounding does.
    centred = rows - rows.detach().mean(dim=0) if distance and not batch.normalize else rows
    points = similarity.stretch(centred) * (inverse / _LOG_2).sqrt()
    bias, positive_bias, own = _beside(batch, similarity, rows, inverse, probes)
    sweep = partial(
        in_batch_sweep, layout=layout, form=similarity.form, with_alignment=not split, probes=probes
    )
    value = differentiable(sweep, batch.weight, points, bias, positive_bias, own)
    if not split:
        return (value,)
    first, second = points.chunk(2)
    alignment = (0.5 * (first - second).square() if distance else -first * second).sum(dim=1) * _LOG_2
    alignment = alignment.repeat(2) if batch.symmetric else alignment
    alignment = alignment if positive_bias is None else alignment - positive_bias
    return alignment if batch.weight is None else alignment.sum() * batch.weight, value


def _beside(
    batch: Batch, similarity: Similarity, rows: Tensor, inverse: Tensor, probes: Probes
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Biases of candidates (points,) and of positives (anchors,), own logits (anchors, K); None if absent."""
    given = None
    if batch.negatives is not None:
        given = to_working(batch.negatives, batch.normalize, rows.dtype, probes)
    own, mine, other = [], [], []
    views = rows.chunk(2)
    for direction, potential in enumerate(batch.potentials[: 1 + batch.symmetric]):
        asked = [views[direction], views[1 - direction]]
        if given is not None:
            own.append(similarity.pair(asked[0][:, None], given) * inverse)
            asked.append(given.flatten(0, 1))
        if potential is not None:
            # One call, so that a potential with batch statistics or dropout is the same for all.
            beta = torch.split(potential_values(potential, torch.cat(asked)), [len(part) for part in asked])
            mine.append(beta[0])
            other.append(beta[1])
            own = [*own[:-1], own[-1] + beta[2].view_as(own[-1])] if own else []
    logits = torch.cat(own) if own else None
    if not mine:
        return None, None, logits
    if batch.candidates.startswith("anchors"):
        bias = torch.cat(mine)
    elif batch.candidates == "both":
        bias = torch.cat([mine[0], other[0]])
    else:
        # The candidates of the second direction are the first view.
        bias = torch.cat([other[1] if batch.symmetric else torch.zeros_like(other[0]), other[0]])
    return bias, torch.cat(other), logits
