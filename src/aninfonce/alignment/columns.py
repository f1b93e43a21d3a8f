"""Changes of an embedding's columns, in which its loss is carried along."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from aninfonce.encoders import BoxHead
from aninfonce.encoders.embedding import Embedding, ensure_final_linear, final_linear
from aninfonce.losses import AnInfoNCE, CandidatePotential, InfoNCE
from aninfonce.losses.ensemble import members
from aninfonce.similarities import Anisotropic, LinearStep, PerAnchor


def last_layer(embedding: Embedding, x: Tensor, dim: int) -> nn.Linear:
    """Find the linear layer that an encoder ends in, by a few rows; append one if there is none."""
    weight = next((weight for weight in embedding.parameters() if weight.is_floating_point()), x)
    few = embedding.inputs(x.to(weight))
    embedding.body = ensure_final_linear(embedding.body, few, dim).to(weight.device)
    last = final_linear(embedding.body, few)
    assert last is not None
    return last


@torch.no_grad()
def permute_columns(embedding: Embedding, last: nn.Linear, loss: nn.Module, order: Tensor) -> None:
    """Put the columns of an embedding, and with them Λ̂, in another order; both are changed in place."""
    turn = torch.eye(len(order), device=last.weight.device)[order]
    carry_loss(loss, turn, torch.zeros_like(turn[0]))
    by_column = [last.weight, last.bias]
    by_column += [part.similarity.raw for part in members(loss) if isinstance(part.similarity, Anisotropic)]
    if isinstance(embedding.head, BoxHead):
        by_column.append(embedding.head.log_bound)
    for parameter in by_column:
        parameter.copy_(parameter[order].clone())


def carry_loss(loss: nn.Module, matrix: Tensor, centre: Tensor) -> None:
    """Keep what a loss knows about single rows after h ↦ A(h − b), A: (d, d), b: (d,).

    That is potentials, a Λ̂ per anchor and linear steps; a single Λ̂ is left as it is.
    """
    parts: Sequence[nn.Module] = members(loss) or [loss]
    for part in parts:
        if isinstance(part, InfoNCE):
            carry_potentials(part, matrix, centre)
            if isinstance(part.similarity, PerAnchor | LinearStep):
                part.similarity.change_columns(matrix, centre)


@torch.no_grad()
def carry_potentials(loss: InfoNCE, matrix: Tensor, centre: Tensor) -> list[Tensor]:
    """Make candidate potentials give the same values after h ↦ A(h − b); other potentials stay.

    Args:
        loss: whose potentials are changed in place.
        matrix: A, (d, d).
        centre: b, (d,).

    Returns:
        The parameters that were changed.

    """
    changed: list[Tensor] = []
    for potential in loss.potentials:
        if not isinstance(potential, CandidatePotential):
            continue
        first = potential.layers[0]
        assert isinstance(first, nn.Linear)
        weight = first.weight.double()
        first.bias.add_((weight @ centre.to(weight)).to(first.bias))
        first.weight.copy_(weight @ torch.linalg.inv(matrix.to(weight)))
        changed += [first.weight, first.bias]
    return changed


def similarity_of(loss: AnInfoNCE) -> Anisotropic | PerAnchor:
    """Get the similarity that holds the Λ̂ of a loss, or what all anchors share of it."""
    assert isinstance(loss.similarity, Anisotropic | PerAnchor)
    return loss.similarity


@torch.no_grad()
def set_concentration(similarity: Anisotropic | PerAnchor, values: Tensor) -> None:
    """Replace Λ̂, or what all anchors share of it, by positive numbers (d,)."""
    like = Anisotropic(similarity.dim, values.to(similarity.raw), similarity.positive_map)
    similarity.raw.copy_(like.raw)


def use_concentration(loss: nn.Module, values: Tensor) -> None:
    """Replace Λ̂ by positive numbers (L, d), one row for each kind of pairs; a Λ̂ per anchor stays."""
    for part, row in zip(members(loss), values, strict=False):
        if isinstance(part.similarity, Anisotropic):
            set_concentration(part.similarity, row)
