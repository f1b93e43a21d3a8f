"""The step from Rᵈ onto the sphere, in the middle of training.

An embedding trained on the sphere from the start can fold: a sign of one latent is lost, and no small step
brings it back (`docs/training.md`). Rᵈ is the sphere Sᵈ without a point, so training there first has one
dimension to spare. The embedding then is an ellipsoid; the affine map that makes it round goes into the last
linear layer, the metric Λ̂ is carried along and diagonalised, and training goes on with the sphere's head.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from aninfonce.encoders import SphereHead
from aninfonce.losses import AnInfoNCE
from aninfonce.similarities import Anisotropic
from aninfonce.training.model import Embedding
from aninfonce.training.sphering import sphering_map

# Λ̂ below this says that a direction is all noise; its logarithm is kept from running away.
_SMALLEST = 0.1


@torch.no_grad()
def embed_in_chunks(
    module: nn.Module, x: Tensor, apply: Callable[[Tensor], Tensor] | None = None, chunk: int = 8192
) -> Tensor:
    """Apply a module to many rows without holding all its activations, in its evaluation mode.

    Args:
        module: whose mode and precision count.
        x: rows (N, ...).
        apply: a method of the module, in place of calling it.
        chunk: rows at once.

    Returns:
        (N, d).

    """
    apply = apply or module
    training = module.training
    weights = next(module.parameters(), x)
    try:
        module.eval()
        return torch.cat([apply(part.to(weights)) for part in torch.split(x, chunk)])
    finally:
        module.train(training)


@torch.no_grad()
def compose_affine(layer: nn.Linear, matrix: Tensor, centre: Tensor) -> None:
    """Let a linear layer be followed by h ↦ A(h − b), folded into its weights."""
    weight, bias = matrix @ layer.weight.double(), matrix @ (layer.bias.double() - centre)
    layer.weight.copy_(weight)
    layer.bias.copy_(bias)


@torch.no_grad()
def map_to_sphere(embedding: Embedding, last: nn.Linear, loss: AnInfoNCE, x: Tensor) -> None:
    """Make the embedding of observations round, put the sphere's head on and carry Λ̂ along.

    Works from Rᵈ and, to take out a linear warp that has built up since, from the sphere itself.

    Args:
        embedding: changed in place.
        last: the linear layer that the body ends in.
        loss: whose Λ̂ is changed in place.
        x: observations (N, ...) whose latents cover the sphere.

    """
    similarity = loss.similarity
    assert isinstance(similarity, Anisotropic)
    h = embed_in_chunks(embedding, x, embedding.headless).double()
    sphering = sphering_map(h)
    # From embedding differences to differences on the new sphere. On a sphere those of the old one are
    # measured after its projection.
    on_sphere = isinstance(embedding.head, SphereHead)
    change = sphering.matrix * h.norm(dim=1).mean() if on_sphere else sphering.matrix
    back = torch.linalg.inv(change)
    metric = back.T @ torch.diag(similarity.concentration.double()) @ back
    values, axes = torch.linalg.eigh(metric)
    size = last.weight.norm()
    compose_affine(last, axes.T @ sphering.matrix, sphering.centre)
    # The scale is free under the sphere's head: keep the weights as large as the rates were chosen for.
    scale = size / last.weight.norm()
    last.weight.mul_(scale)
    last.bias.mul_(scale)
    embedding.head = SphereHead()
    set_concentration(similarity, values.clamp_min(_SMALLEST))


@torch.no_grad()
def set_concentration(similarity: Anisotropic, values: Tensor) -> None:
    """Put positive numbers (d,) in the place of Λ̂."""
    like = Anisotropic(similarity.dim, values.to(similarity.raw), similarity.positive_map)
    similarity.raw.copy_(like.raw)
