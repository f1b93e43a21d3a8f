"""What the estimator does with its encoder: embed arrays, and order the columns."""

from __future__ import annotations

import copy

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from aninfonce.encoders import BoxHead
from aninfonce.estimator.pairs import Array
from aninfonce.losses import AnInfoNCE
from aninfonce.similarities import Anisotropic
from aninfonce.training.model import Embedding, final_linear


@torch.no_grad()
def embed_rows(encoder: Embedding, x: Array, *, batch_size: int = 8192, exact: bool = False) -> Tensor:
    """Embed the rows of an array or memory map, a batch at a time.

    Args:
        encoder: on any device.
        x: (N, D).
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
    parts = (
        torch.from_numpy(np.array(x[i : i + batch_size])).to(weight) for i in range(0, len(x), batch_size)
    )
    return torch.cat([encoder(part) for part in parts])


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
    if isinstance(loss, AnInfoNCE):
        assert isinstance(loss.similarity, Anisotropic)
        parameters.append(loss.similarity.raw)
    for parameter in parameters:
        parameter.copy_(parameter[index].clone())
