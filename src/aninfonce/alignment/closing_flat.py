"""After the last step in flat space: columns that are uncorrelated, of unit variance, in the order of Λ̂."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from aninfonce.alignment.axes import fix_signs, flat_axes
from aninfonce.alignment.columns import carry_loss, use_concentration
from aninfonce.encoders.embedding import Embedding, compose_affine, embed_in_chunks
from aninfonce.losses import AnInfoNCE
from aninfonce.losses.ensemble import members
from aninfonce.losses.gather import alone
from aninfonce.recipe import Closing
from aninfonce.similarities import PerAnchor
from aninfonce.sources.base import PairSource

# Smallest Λ̂: its logarithm is what is stored.
_SMALLEST = 1e-6
# Anchors whose metrics decide on the axes, where each has its own: by their mean, and some by themselves.
_ANCHORS, _ALONE = 1024, 64


@alone()
@torch.no_grad()
def close_flat(
    embedding: Embedding, last: nn.Linear, loss: nn.Module, source: PairSource, settings: Closing
) -> Tensor:
    """Finish an embedding in Rᵈ: uncorrelated columns of unit variance, in the order of Λ̂.

    The similarity of any two rows does not change: in flat space scale, rotation and Λ̂ can be traded for one
    another, and this chooses the form that is easy to read. Encoder and loss are changed in place.

    Args:
        embedding: without a head.
        last: the linear layer that its body ends in.
        loss: its Λ̂ and potentials are transformed along; several kinds of pairs share their axes. Where each
            anchor has a metric of its own, the axes are those that suit them best together.
        source: gives rows for the second moments.
        settings: how many rows.

    Returns:
        Λ̂ (L, d), one row for each kind of pairs, of which the first ascends; its mean over anchors where
        these have their own.

    """
    parts = members(loss)
    x = source.fresh(settings.pairs).x.to(last.weight.device)
    h = embed_in_chunks(embedding, x).double()
    axes = flat_axes(h, _metrics(parts, h))
    signs = fix_signs(axes(h), x).to(axes.matrix)
    matrix = signs[:, None] * axes.matrix.to(h.device)
    compose_affine(last, matrix, axes.centre)
    carry_loss(loss, matrix, axes.centre)
    found = axes.concentration.clamp_min(_SMALLEST).to(h.device)
    use_concentration(loss, found)
    return found[: len(parts)]


def _metrics(parts: Sequence[AnInfoNCE], h: Tensor) -> Tensor:
    """Give the metric (L, d, d) of each kind of pairs; per anchor, their mean, then that of some."""
    similarity = parts[0].similarity
    if not isinstance(similarity, PerAnchor):
        return torch.diag_embed(torch.stack([part.concentration.double() for part in parts]))
    found = similarity.metric_at(h[:: -(-len(h) // _ANCHORS)])
    return torch.cat([found.mean(dim=0, keepdim=True), found[:: -(-len(found) // _ALONE)]])
