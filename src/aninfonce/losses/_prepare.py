"""From what a user hands in to what the kernel computes with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn

from aninfonce._validation import (
    check_finite,
    check_matrix,
    check_number,
    check_same_device,
    check_vector,
    describe,
)
from aninfonce.similarities import Similarity

# A similarity without `pair` is asked for small blocks whose diagonal is kept.
_BLOCK = 32


def check_views(z0: Tensor, z1: Tensor) -> None:
    """Require two finite (N, d) tensors on one device."""
    if isinstance(z0, Tensor) and isinstance(z1, Tensor):
        check_same_device(z0=z0, z1=z1)
    check_matrix(z0, "z0")
    check_matrix(z1, "z1", rows=z0.shape[0], columns=z0.shape[1])


def check_negatives(negatives: Tensor, z0: Tensor) -> None:
    """Require (N, K, d) or (M, d) negatives."""
    n, d = z0.shape
    if isinstance(negatives, Tensor):
        check_same_device(z0=z0, negatives=negatives)
    if isinstance(negatives, Tensor) and negatives.ndim == 3:
        if not negatives.is_floating_point() or negatives.shape[0] != n or negatives.shape[2] != d:
            raise ValueError(
                f"`negatives` must be a floating-point tensor of shape ({n}, K, {d}) or (M, {d}),"
                f" got {describe(negatives)}"
            )
        check_finite(negatives, "negatives")
    else:
        check_matrix(negatives, "negatives", columns=d, min_rows=0)


class Ratios(NamedTuple):
    """Log-ratio of the hard negatives' density to that of the others."""

    negatives: Tensor
    """At the hard negatives, (N, K) or (M,)."""
    positives: Tensor
    """At the positives, (N,)."""


def check_ratios(
    negatives: Tensor | None,
    of_negatives: Tensor | None,
    of_positives: Tensor | None,
    z0: Tensor,
    symmetric: bool,
) -> Ratios | None:
    """Require both ratios or none, of the right shapes."""
    if of_negatives is None and of_positives is None:
        return None
    if of_negatives is None or of_positives is None or negatives is None or negatives.shape[-2] == 0:
        raise ValueError("`negatives_log_ratio` and `positives_log_ratio` go together, and with `negatives`")
    if symmetric:
        raise ValueError(
            "`negatives_log_ratio` belongs to the anchors z0: call the loss once for each direction"
            " instead of `symmetric=True`"
        )
    check_same_device(z0=z0, negatives_log_ratio=of_negatives, positives_log_ratio=of_positives)
    check_vector(of_positives, "positives_log_ratio", length=len(z0))
    if of_negatives.shape != negatives.shape[:-1]:
        raise ValueError(
            f"`negatives_log_ratio` must have shape {tuple(negatives.shape[:-1])} for `negatives` of"
            f" shape {tuple(negatives.shape)}, got {describe(of_negatives)}"
        )
    check_finite(of_negatives, "negatives_log_ratio")
    return Ratios(of_negatives, of_positives)


def inverse_temperature(temperature: float | Tensor, like: Tensor) -> Tensor:
    """Give one over the temperature as a () tensor, through which a trainable one gets its gradient."""
    if isinstance(temperature, Tensor):
        if temperature.numel() != 1:
            raise ValueError(f"`temperature` must be one number, got {describe(temperature)}")
        check_number(temperature.detach().item(), "temperature", minimum=0, exclusive=True)
        return temperature.to(like).reshape(()).reciprocal()
    return like.new_tensor(1.0 / check_number(temperature, "temperature", minimum=0, exclusive=True))


def to_working(z: Tensor, normalize: bool) -> Tensor:
    """Float32 or better and, if asked, unit length."""
    working = z.to(torch.promote_types(z.dtype, torch.float32))
    if not normalize:
        return working
    # A row too short to have a direction in its own precision becomes zero and gets no gradient:
    # dividing by a tiny length instead would overflow half precision on the way back.
    floor = max(torch.finfo(z.dtype).tiny, 1e-12)
    length = torch.linalg.vector_norm(working, dim=-1, keepdim=True)
    kept = length > floor
    return working * torch.where(kept, torch.where(kept, length, 1.0).reciprocal(), 0.0)


@contextmanager
def full_precision(device: torch.device) -> Iterator[None]:
    """Switch autocast off: the losses choose their precision themselves."""
    with torch.autocast(device.type, enabled=False):
        yield


def pair_similarity(similarity: Callable[[Tensor, Tensor], Tensor], q: Tensor, r: Tensor) -> Tensor:
    """Similarity of matching rows, (n, d) and (n, d) to (n,), for any similarity."""
    if isinstance(similarity, Similarity):
        return similarity.pair(q, r)
    blocks = zip(torch.split(q, _BLOCK), torch.split(r, _BLOCK), strict=True)
    return torch.cat([similarity(a, b).diagonal() for a, b in blocks])


Potential = Callable[[Tensor], Tensor] | nn.Module


def potential_values(potential: Potential | None, z: Tensor) -> Tensor:
    """β of each row, (n, d) to (n,); zeros without a potential."""
    if potential is None:
        return z.new_zeros(len(z))
    values: Tensor = potential(z)
    if values.shape not in ((len(z),), (len(z), 1)):
        raise ValueError(
            f"`potential` must map ({len(z)}, {z.shape[1]}) to ({len(z)},), got {describe(values)}"
        )
    return values.reshape(-1).to(z.dtype)
