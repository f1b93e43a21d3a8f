"""Folds pulled apart in the middle of training: a new last layer from the canonical directions of the pairs.

On the sphere from the start an embedding in many dimensions folds along a few of its directions: |zᵢ| in
place of zᵢ. The last hidden layer often knows zᵢ all the same, and pairs say where. For uniform anchors and Λ
that do not differ much, the functions of z that pairs share most are the d latents themselves, with a
correlation of ρᵢ each; what is made of two latents, such as a fold, has about ρᵢρⱼ. So the d directions of
hidden features along which pairs correlate most hold the latents, whatever the last layer has made of them,
as long as the smallest of their correlations is above the square of the largest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count, check_matrix
from aninfonce.encoders import SphereHead
from aninfonce.training.model import Embedding
from aninfonce.training.unfold import embed_in_chunks

if TYPE_CHECKING:
    from aninfonce.training.loop import Trainer

# Pairs that the directions are found on.
_PAIRS = 32_768
# Directions of features with less than this share of the largest variance are left out.
_FLOOR = 1e-7


class Canonical(NamedTuple):
    """Directions along which pairs correlate most."""

    matrix: Tensor
    """(d, k), in float64: rows give columns of variance 1."""
    centre: Tensor
    """Mean of the features (k,), in float64."""
    correlations: Tensor
    """Of the d directions, falling, (d,)."""

    @property
    def holds_latents(self) -> bool:
        """Whether all correlations are above what two latents together could have."""
        return bool(self.correlations[-1] > self.correlations[0] ** 2)


def canonical_directions(features: Tensor, positives: Tensor, dim: int) -> Canonical:
    """Find the directions of features along which the two sides of pairs correlate most.

    Example:
        >>> g = torch.Generator().manual_seed(0)
        >>> shared = torch.randn(4096, 1, generator=g)
        >>> noise = torch.randn(2, 4096, 3, generator=g)
        >>> found = canonical_directions(noise[0] + shared, noise[1] + shared, 1)
        >>> (found.matrix / found.matrix[0, 0]).round(decimals=1)
        tensor([[1., 1., 1.]], dtype=torch.float64)

    Args:
        features: of anchors, (N, k).
        positives: of the same pairs, (N, k).
        dim: d, directions to find.

    Returns:
        The directions; signs are arbitrary.

    References:
        Hotelling, "Relations between two sets of variates" (1936); Wiskott and Sejnowski, "Slow feature
        analysis" (2002).

    """
    n, k = check_matrix(features, "features").shape
    check_matrix(positives, "positives", rows=n, columns=k)
    if check_count(dim, "dim") > k:
        raise ValueError(f"`dim` must be at most the {k} columns of `features`, got {dim}")
    centre = 0.5 * (features.double().mean(dim=0) + positives.double().mean(dim=0))
    a, b = features.double() - centre, positives.double() - centre
    values, vectors = torch.linalg.eigh((a.T @ a + b.T @ b) / (2 * n))
    # Both sides have one law: one map whitens both. What does not vary stays out of sight.
    scale = torch.where(values > _FLOOR * values[-1], values, torch.inf).rsqrt()
    whitening = vectors * scale
    cross = a.T @ b
    correlations, axes = torch.linalg.eigh(whitening.T @ (cross + cross.T) @ whitening / (2 * n))
    chosen = axes[:, -dim:].flip(1)
    return Canonical((whitening @ chosen).T, centre, correlations[-dim:].flip(0))


@torch.no_grad()
def renew_last_layer(embedding: Embedding, last: nn.Linear, x: Tensor, x_pos: Tensor) -> Canonical:
    """Let the last layer give the canonical directions of the features that come into it.

    Args:
        embedding: that ends in the layer and the sphere's head.
        last: the layer, changed in place where the directions hold the latents, otherwise left alone.
        x: observations of anchors, (N, ...).
        x_pos: of their positives.

    Returns:
        The directions that were found.

    """
    found = canonical_directions(
        _entering(embedding, last, x), _entering(embedding, last, x_pos), last.out_features
    )
    if found.holds_latents:
        # The scale is free under the sphere's head: keep the weights as large as the rates were chosen for.
        matrix = found.matrix * (last.weight.double().norm() / found.matrix.norm())
        last.weight.copy_(matrix)
        last.bias.copy_(-matrix @ found.centre)
    return found


def _entering(embedding: Embedding, layer: nn.Linear, x: Tensor) -> Tensor:
    """Collect what comes into a layer for observations (N, ...), as (N, k)."""
    seen: list[Tensor] = []
    hook = layer.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].detach()))
    try:
        embed_in_chunks(embedding, x, embedding.headless)
    finally:
        hook.remove()
    return torch.cat(seen)


def is_due_for_renewal(trainer: Trainer) -> bool:
    """Say whether the last layer is to be renewed before the next step."""
    on_sphere = trainer.last is not None and isinstance(trainer.embedding.head, SphereHead)
    shares = trainer.recipe.renew if on_sphere else ()
    return trainer.step in {int(share * trainer.recipe.steps) for share in shares}


@torch.no_grad()
def renew(trainer: Trainer) -> None:
    """Renew the last layer of a run, alike in all processes, and forget its moments."""
    assert trainer.last is not None
    with trainer.watch("fits"):
        pairs = trainer.source.fresh(_PAIRS)
        device = trainer.fabric.device
        renew_last_layer(trainer.embedding, trainer.last, pairs.x.to(device), pairs.x_pos.to(device))
        for parameter in (trainer.last.weight, trainer.last.bias):
            if trainer.fabric.world_size > 1:
                parameter.copy_(trainer.fabric.broadcast(parameter.detach()))
            for optimizer in trainer.optimizers:
                optimizer.state.pop(parameter, None)
