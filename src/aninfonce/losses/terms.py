"""How a loss gets its value: a fast way, one look at the numbers, and the exact way if needed."""

from __future__ import annotations

import torch
from torch import Tensor
from torch._compile import _disable_dynamo

from aninfonce._validation import check_finite, check_number
from aninfonce.losses._batch import Batch
from aninfonce.losses._prepare import full_precision
from aninfonce.losses.by_rows import by_rows, gather
from aninfonce.losses.kernel.probes import Probes
from aninfonce.losses.one_matrix import lies_in_one_matrix, one_matrix_terms


def evaluate(batch: Batch, *, split: bool) -> tuple[Tensor, ...]:
    """Alignment and uniformity or, if they need not be split, possibly their sum alone; of this process."""
    if torch.compiler.is_compiling():
        # One graph break: compiled code ends here, and the kernels run uncompiled.
        terms: tuple[Tensor, ...] = _uncompiled(batch, split)
        return terms
    return _evaluate(batch, split)


def _evaluate(batch: Batch, split: bool) -> tuple[Tensor, ...]:
    with full_precision(batch.z0.device):
        probes, everyone = Probes(), None
        if lies_in_one_matrix(batch):
            terms = one_matrix_terms(batch, probes, split=split)
        else:
            # Processes exchange rows first: whether one of them then needs the exact way concerns no other.
            everyone = gather(batch)
            terms = by_rows(batch, everyone, probes)
        if _are_exact(terms, batch, probes):
            return terms
        _refuse_bad_input(batch)
        exact = by_rows(batch, everyone or gather(batch), None)
        return tuple(term.to(terms[0].dtype) for term in exact)


# Unlike `torch.compiler.disable`, this does not import the compiler unless it is called.
_uncompiled = _disable_dynamo(_evaluate)


def _are_exact(terms: tuple[Tensor, ...], batch: Batch, probes: Probes) -> bool:
    """Check the result and what was noted on the way: the only place that waits for the numbers."""
    for term in terms:
        probes.finite(term if term.ndim == 0 else term.sum())
    if isinstance(batch.temperature, Tensor):
        probes.at_least(batch.temperature.reshape(()), torch.finfo(batch.temperature.dtype).tiny)
    # Values that are not finite show in the result, except in negatives, or if the similarity hides them.
    if batch.negatives is not None:
        probes.finite(batch.negatives.sum())
    if getattr(batch.similarity, "form", None) is None:
        probes.finite(batch.z0.sum())
        probes.finite(batch.z1.sum())
    return probes.hold()


def _refuse_bad_input(batch: Batch) -> None:
    """Raise an error that names what is not finite, or not positive."""
    if isinstance(batch.temperature, Tensor):
        check_number(batch.temperature.detach().item(), "temperature", minimum=0, exclusive=True)
    for name, z in (("z0", batch.z0), ("z1", batch.z1), ("negatives", batch.negatives)):
        if z is not None:
            check_finite(z, name)
