"""From the arguments of a loss to what the kernel computes with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, NamedTuple

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
from aninfonce.losses.kernel.probes import Probes
from aninfonce.losses.potential import CandidatePotential
from aninfonce.similarities import Similarity
from aninfonce.spaces import within_squares

SimilarityFunction = Callable[[Tensor, Tensor], Tensor]
Potential = Callable[[Tensor], Tensor] | nn.Module

# Of a similarity without `pair`, small blocks are computed and their diagonals kept.
_BLOCK = 32


def check_views(z0: Tensor, z1: Tensor, *, finite: bool = True) -> None:
    """Require two (N, d) tensors on one device, finite unless that is checked later."""
    if isinstance(z0, Tensor) and isinstance(z1, Tensor) and z0.device != z1.device:
        check_same_device(z0=z0, z1=z1)
    check_matrix(z0, "z0", finite=finite)
    check_matrix(z1, "z1", rows=z0.shape[0], columns=z0.shape[1], finite=finite)


def check_negatives(negatives: Tensor, z0: Tensor) -> None:
    """Require (N, K, d) or (M, d) negatives; whether they are finite is checked later."""
    n, d = z0.shape
    if isinstance(negatives, Tensor):
        check_same_device(z0=z0, negatives=negatives)
    if isinstance(negatives, Tensor) and negatives.ndim == 3:
        if not negatives.is_floating_point() or negatives.shape[0] != n or negatives.shape[2] != d:
            raise ValueError(
                f"`negatives` must be a floating-point tensor of shape ({n}, K, {d}) or (M, {d}),"
                f" got {describe(negatives)}"
            )
    else:
        check_matrix(negatives, "negatives", columns=d, min_rows=0, finite=False)


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
    """Require both ratios or neither, with the right shapes."""
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


def check_temperature(temperature: float | Tensor) -> None:
    """Require one number above 0; the value of a tensor is checked later."""
    if not isinstance(temperature, Tensor):
        if not (isinstance(temperature, float) and 0 < temperature < torch.inf):
            check_number(temperature, "temperature", minimum=0, exclusive=True)
    elif temperature.numel() != 1:
        raise ValueError(f"`temperature` must be one number, got {describe(temperature)}")


def inverse_temperature(temperature: float | Tensor, like: Tensor) -> Tensor:
    """Give one over the temperature as a () tensor, through which a trained temperature gets its gradient."""
    if isinstance(temperature, Tensor):
        return temperature.to(like).reshape(()).reciprocal()
    return like.new_full((), 1.0 / temperature)


@cache
def shortest(*dtypes: torch.dtype) -> float:
    """Length below which a row has no direction in its own precision."""
    return max(1e-12, *(torch.finfo(dtype).tiny for dtype in dtypes))


def to_working(
    z: Tensor, normalize: bool, dtype: torch.dtype | None = None, probes: Probes | None = None
) -> Tensor:
    """Convert to float32 or better and, if asked, unit length; a row too short for a direction becomes 0."""
    working = z.to(dtype or torch.promote_types(z.dtype, torch.float32))
    if not normalize:
        return working
    working = within_squares(working)
    length = torch.linalg.vector_norm(working, dim=-1, keepdim=True)
    if probes is not None and len(length):
        # A row whose length overflows must not pass for a row of zeros.
        probes.finite(length.detach().amax())
    kept = length > shortest(z.dtype)
    return working * torch.where(kept, torch.where(kept, length, 1.0).reciprocal(), 0.0)


def full_precision(device: torch.device) -> AbstractContextManager[Any]:
    """Switch autocast off: the losses choose their precision themselves."""
    # The first check covers all devices at once, and is the quickest.
    if not torch._C._is_any_autocast_enabled() or device.type == "meta":
        return nullcontext()
    if torch.is_autocast_enabled(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()


def pair_similarity(similarity: SimilarityFunction, q: Tensor, r: Tensor) -> Tensor:
    """Similarity of matching rows, (n, d) and (n, d) to (n,), for any similarity."""
    if isinstance(similarity, Similarity):
        return similarity.pair(q, r)
    blocks = zip(torch.split(q, _BLOCK), torch.split(r, _BLOCK), strict=True)
    return torch.cat([similarity(a, b).diagonal() for a, b in blocks])


def potential_values(potential: Potential | None, z: Tensor) -> Tensor:
    """β of each row, (n, d) to (n,); zeros without a potential."""
    if potential is None:
        return z.new_zeros(len(z))
    values: Tensor = potential(_as_parameters(potential, z))
    if values.shape not in ((len(z),), (len(z), 1)):
        raise ValueError(
            f"`potential` must map ({len(z)}, {z.shape[1]}) to ({len(z)},), got {describe(values)}"
        )
    return values.reshape(-1).to(z.dtype)


def _as_parameters(potential: Potential, z: Tensor) -> Tensor:
    """Convert `z` to the precision of a user's module; our own works in that of `z`."""
    if isinstance(potential, CandidatePotential) or not isinstance(potential, nn.Module):
        return z
    dtypes = (p.dtype for p in potential.parameters() if p.is_floating_point())
    return z.to(next(dtypes, z.dtype))
