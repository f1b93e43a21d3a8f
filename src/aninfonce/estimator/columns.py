"""What the estimator does with its encoder: embed arrays, and order the columns."""

from __future__ import annotations

import copy

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from aninfonce.alignment.map_to_sphere import carry_potentials, set_concentration, similarity_of
from aninfonce.encoders import BoxHead
from aninfonce.encoders.embedding import Embedding, compose_affine, final_linear
from aninfonce.estimator.frames import Array, Frames
from aninfonce.losses.ensemble import members
from aninfonce.similarities import PerAnchor

# Λ̂ of a column along which pairs share nothing: its logarithm is kept from running away.
_SMALLEST = 0.05


@torch.no_grad()
def embed_rows(
    encoder: Embedding, x: Array | Frames, *, batch_size: int = 8192, exact: bool = False
) -> Tensor:
    """Embed the rows of an array or memory map, a batch at a time.

    Inputs are whitened in float64 whatever the precision of the rest: columns may be far from zero.

    Args:
        encoder: on any device, in the mode that it is to be used in.
        x: (N, ...), or rows with their windows.
        batch_size: rows at once.
        exact: compute in float64 (where the device has it), so that a row's embedding does not depend on the
            rows beside it even in the last digits of float32.

    Returns:
        (N, d) on the encoder's device.

    """
    weight = next(encoder.parameters())
    if exact and weight.device.type != "mps":
        encoder = copy.deepcopy(encoder).double()
        weight = next(encoder.parameters())
    inputs = copy.deepcopy(encoder.inputs).cpu().double()
    parts = (
        inputs(torch.from_numpy(np.array(x[i : i + batch_size], dtype=np.float64))).to(weight)
        for i in range(0, len(x), batch_size)
    )
    return torch.cat([encoder.head(encoder.body(part)) for part in parts])


@torch.no_grad()
def permute_columns(embedding: Embedding, loss: nn.Module, order: npt.NDArray[np.intp], x: Tensor) -> None:
    """Bring the columns of an embedding, and with them Λ̂, into another order; both change in place.

    Args:
        embedding: whose body ends in a linear layer.
        loss: with or without a Λ̂.
        order: the column that comes first, second, ...
        x: a few observations (n, D), to find the last layer with.

    """
    weight = next(embedding.parameters())
    last = final_linear(embedding.body, embedding.inputs(x.to(weight)))
    if last is None:
        raise ValueError("`encoder` must end in a linear layer with a bias")
    index = torch.as_tensor(order, device=weight.device)
    parameters = [last.weight, last.bias]
    if isinstance(embedding.head, BoxHead):
        parameters.append(embedding.head.log_bound)
    for part in members(loss):
        similarity, turn = similarity_of(part), torch.eye(len(index), device=weight.device)[index]
        carry_potentials(part, turn, torch.zeros_like(turn[0]))
        if isinstance(similarity, PerAnchor):
            similarity.change_columns(turn, torch.zeros_like(turn[0]))
        else:
            parameters.append(similarity.raw)
    for parameter in parameters:
        parameter.copy_(parameter[index].clone())


@torch.no_grad()
def turn_columns(embedding: Embedding, loss: nn.Module, turn: npt.NDArray[np.float64], x: Tensor) -> None:
    """Rotate the columns of a flat embedding, and with them the potentials; both change in place.

    Args:
        embedding: without a head, whose body ends in a linear layer.
        loss: whose Λ̂ must be equal where columns are mixed, unless each anchor has its own.
        turn: (d, d): columns after it are `columns @ turn`.
        x: a few observations (n, D), to find the last layer with.

    """
    weight = next(embedding.parameters())
    last = final_linear(embedding.body, embedding.inputs(x.to(weight)))
    assert last is not None
    matrix = torch.from_numpy(turn.T.copy()).to(weight.device)
    compose_affine(last, matrix, torch.zeros_like(matrix[0]))
    for part in members(loss):
        carry_potentials(part, matrix, torch.zeros_like(matrix[0]))
        similarity = similarity_of(part)
        if isinstance(similarity, PerAnchor):
            similarity.change_columns(matrix, torch.zeros_like(matrix[0]))


def use_concentration(loss: nn.Module, values: npt.NDArray[np.float64]) -> None:
    """Put fitted numbers (L, d) in the place of a loss's Λ̂, one row for each kind, if it has one for all."""
    for part, row in zip(members(loss), values, strict=False):
        similarity = similarity_of(part)
        if not isinstance(similarity, PerAnchor):
            set_concentration(similarity, torch.from_numpy(row).clamp_min(_SMALLEST))
