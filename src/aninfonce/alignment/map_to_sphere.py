"""The step from Rᵈ onto the sphere, in the middle of training.

An embedding trained on the sphere from the start can fold: the sign of a latent is lost, and no small step
brings it back (`docs/training.md`). Rᵈ is the sphere Sᵈ without a point, so training there first has one
dimension to spare. The embedding becomes an ellipsoid; the affine map that makes it round goes into the last
linear layer, the metric Λ̂ is carried along and diagonalised, and training continues with the sphere's head.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from aninfonce.alignment.columns import carry_potentials, last_layer, set_concentration
from aninfonce.alignment.sphering import sphering_map
from aninfonce.encoders import SphereHead
from aninfonce.encoders.embedding import Embedding, compose_affine, embed_in_chunks
from aninfonce.losses import AnInfoNCE
from aninfonce.losses.ensemble import members
from aninfonce.similarities import Anisotropic

# Smallest Λ̂ of a direction that is all noise: keeps its logarithm from running away.
_SMALLEST = 0.1


def prepare_for_sphere(embedding: Embedding, loss: nn.Module, x: Tensor, dim: int) -> tuple[nn.Linear, bool]:
    """Find the linear layer into which maps onto the sphere are folded, or append one.

    Args:
        embedding: its body may get one more layer.
        loss: of the run.
        x: a few observations to try it on.
        dim: d, columns of the embedding.

    Returns:
        The layer, and whether it was appended.

    """
    parts = members(loss)
    if not parts or any(part.normalize for part in parts):
        raise ValueError(
            "`loss` must be an AnInfoNCE with normalize=False for the recipe's steps on the sphere: they"
            f" put the embedding there themselves; got {type(loss).__name__}"
        )
    body = embedding.body
    return last_layer(embedding, x, dim), embedding.body is not body


@torch.no_grad()
def map_to_sphere(embedding: Embedding, last: nn.Linear, loss: AnInfoNCE, x: Tensor) -> list[Tensor]:
    """Make the embedding of observations round, put the sphere's head on and carry Λ̂ along.

    Works from Rᵈ and, to take out a linear warp that has built up since, from the sphere itself.

    Args:
        embedding: changed in place.
        last: the linear layer that the body ends in.
        loss: whose Λ̂ is changed in place.
        x: observations (N, ...) whose latents cover the sphere.

    Returns:
        The parameters that were changed.

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
    # On a sphere, potentials have been looking at the projected embedding, which is turned about its centre.
    centre = torch.zeros_like(sphering.centre) if on_sphere else sphering.centre
    carried = carry_potentials(loss, axes.T @ change, centre)
    embedding.head = SphereHead()
    set_concentration(similarity, values.clamp_min(_SMALLEST))
    return [last.weight, last.bias, *similarity.parameters(), *carried]
