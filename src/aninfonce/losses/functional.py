"""InfoNCE as a pure function; every contrastive loss of the package is a case of it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from aninfonce._validation import check_choice
from aninfonce.losses._prepare import (
    Potential,
    check_negatives,
    check_ratios,
    check_views,
    full_precision,
    inverse_temperature,
    to_working,
)
from aninfonce.losses.direction import SimilarityFunction, one_direction
from aninfonce.losses.gather import Shard, find_shard, gather_rows, global_value
from aninfonce.similarities import Dot

Candidates = Literal["anchors", "anchors+self", "positives", "both", "none"]
Reduction = Literal["mean", "sum", "none"]

CANDIDATES = ("anchors", "anchors+self", "positives", "both", "none")
REDUCTIONS = ("mean", "sum", "none")


class Components(NamedTuple):
    """The two halves of an InfoNCE loss; their sum is the loss."""

    alignment: Tensor
    """Minus the logit of the positive: low if the two views of a pair agree."""
    uniformity: Tensor
    """Log-sum-exp over all candidates: low if the embeddings spread."""


def info_nce(
    z0: Tensor,
    z1: Tensor,
    negatives: Tensor | None = None,
    *,
    similarity: SimilarityFunction | None = None,
    temperature: float | Tensor = 1.0,
    symmetric: bool = False,
    candidates: Candidates = "anchors",
    normalize: bool = False,
    potential: Potential | tuple[Potential, Potential] | None = None,
    negatives_log_ratio: Tensor | None = None,
    positives_log_ratio: Tensor | None = None,
    reduction: Reduction = "mean",
    gather_distributed: bool = False,
) -> Tensor:
    """Cross-entropy of finding each anchor's positive among its candidates.

    For anchor i = z0[i] the positive is z1[i], always a candidate. The others are

    | `candidates` | negatives of anchor i | logits |
    |---|---|---|
    | `"anchors"` | the other anchors z0[j], j ≠ i | N |
    | `"anchors+self"` | all anchors z0[j], its own embedding included (cl-ica) | N + 1 |
    | `"positives"` | the positives of the others, z1[j], j ≠ i (CPC, CLIP) | N |
    | `"both"` | z0[j] and z1[j], j ≠ i (SimCLR) | 2N − 1 |
    | `"none"` | only those given as `negatives` | 1 + K or 1 + M |

    and `negatives` adds K or M logits to each. With `symmetric=True` the views also change places,
    and the loss is the mean over all 2N anchors; `symmetric=True, candidates="both"` is NT-Xent.
    `"anchors"` is exact for anchors that are uniform. Positives in general are not, so the other sets and
    symmetry want a `potential`; `"both"` and `"anchors+self"` mix candidates of two kinds, and are then
    exact up to order 1/N.

    Memory is linear in N: no (N, N) matrix is ever held, unless `similarity` is a plain function.

    Example:
        >>> import torch
        >>> from aninfonce.functional import info_nce
        >>> from aninfonce.similarities import Anisotropic
        >>> z0, z1 = torch.randn(2, 8, 3)
        >>> loss = info_nce(z0, z1, similarity=Anisotropic(3), normalize=True)
        >>> loss.backward()
        >>> info_nce(torch.ones(8, 3), torch.ones(8, 3)).exp()  # a constant embedding: 8 equal candidates
        tensor(8...)

    Args:
        z0: Anchors, (N, d).
        z1: Positives, (N, d); row i belongs to row i of `z0`.
        negatives: Further negatives: (N, K, d), K for each anchor (for both of its views if
            symmetric), or (M, d), shared by all.
        similarity: From (N, d) and (M, d) to (N, M), larger is closer; the inner product if None. A
            module is best; a plain function is computed in one piece, N × M.
        temperature: Divides the similarity; positive. A tensor gets a gradient.
        symmetric: Also use the second view as anchors.
        candidates: Which in-batch embeddings are negatives, see the table.
        normalize: Bring all embeddings to unit length first. Off here, since not every similarity
            lives on the sphere; the modules say what they do.
        potential: β, from (n, d) to (n,), added to the logit of each candidate. It absorbs a density of
            the candidates that is not uniform. A pair holds one for each direction.
        negatives_log_ratio: For hard negatives, log of the density that they were drawn from over that of
            the in-batch ones, at each of them: (N, K) or (M,). With it the optimum stays what it is
            without hard negatives, instead of moving to the ratio of the positives' density to theirs.
        positives_log_ratio: The same ratio at each positive, (N,); goes with `negatives_log_ratio`.
        reduction: "mean", "sum", or "none" for (N,) or, if symmetric, (2N,) with the second view last.
        gather_distributed: Use the embeddings of all processes as candidates. "mean" and "sum" then
            give the value of the whole batch on every process, and gradients that become those of the
            whole batch by averaging over processes, as DistributedDataParallel does. Batches may differ
            in size.

    Returns:
        The loss in float32, or float64 for such input.

    References:
        van den Oord et al., "Representation learning with contrastive predictive coding" (2018).
        Rusak et al., "InfoNCE: identifying the gap between theory and practice" (2025).

    """
    alignment, uniformity = info_nce_components(
        z0,
        z1,
        negatives,
        similarity=similarity,
        temperature=temperature,
        symmetric=symmetric,
        candidates=candidates,
        normalize=normalize,
        potential=potential,
        negatives_log_ratio=negatives_log_ratio,
        positives_log_ratio=positives_log_ratio,
        reduction=reduction,
        gather_distributed=gather_distributed,
    )
    return alignment + uniformity


def info_nce_components(
    z0: Tensor,
    z1: Tensor,
    negatives: Tensor | None = None,
    *,
    similarity: SimilarityFunction | None = None,
    temperature: float | Tensor = 1.0,
    symmetric: bool = False,
    candidates: Candidates = "anchors",
    normalize: bool = False,
    potential: Potential | tuple[Potential, Potential] | None = None,
    negatives_log_ratio: Tensor | None = None,
    positives_log_ratio: Tensor | None = None,
    reduction: Reduction = "mean",
    gather_distributed: bool = False,
) -> Components:
    """Alignment and uniformity terms of `info_nce`, which takes the same arguments.

    Example:
        >>> import torch
        >>> from aninfonce.functional import info_nce_components
        >>> z = torch.eye(4)
        >>> alignment, uniformity = info_nce_components(z, z)
        >>> alignment
        tensor(-1.)

    """
    check_views(z0, z1)
    check_choice(candidates, "candidates", CANDIDATES)
    check_choice(reduction, "reduction", REDUCTIONS)
    if negatives is not None:
        check_negatives(negatives, z0)
    ratios = check_ratios(negatives, negatives_log_ratio, positives_log_ratio, z0, symmetric)
    shard = find_shard(len(z0), z0.device, gather_distributed)
    pool = _find_pool(negatives, shard)
    _check_any_negative(candidates, shard, pool)
    with full_precision(z0.device):
        view0, view1 = to_working(z0, normalize), to_working(z1, normalize)
        dtype = torch.promote_types(view0.dtype, view1.dtype)
        view0, view1 = view0.to(dtype), view1.to(dtype)
        given = None if negatives is None else to_working(negatives, normalize).to(dtype)
        forward, backward = potential if isinstance(potential, tuple) else (potential, potential)
        # Which views stand as candidates, from all processes, for anchors z0 and, swapped, z1.
        needs = (candidates in ("positives", "both"), candidates in ("anchors", "anchors+self", "both"))
        all0 = gather_rows(view0, shard) if needs[1] or (symmetric and needs[0]) else view0
        all1 = gather_rows(view1, shard) if needs[0] or (symmetric and needs[1]) else view1
        directions = [
            (view0, view1, [v for v, need in zip((all1, all0), needs, strict=True) if need], forward)
        ]
        if symmetric:
            swapped = [v for v, need in zip((all0, all1), needs, strict=True) if need]
            directions.append((view1, view0, swapped, backward))
        # A process's own rows, weighted such that averaging over processes gives the whole batch.
        weight = {"mean": shard.processes / (shard.total * len(directions)), "sum": float(shard.processes)}
        terms = [
            one_direction(
                anchors,
                positives,
                in_batch,
                given,
                similarity=Dot() if similarity is None else similarity,
                scale=inverse_temperature(temperature, view0),
                exclude_self=candidates != "anchors+self",
                potential=beta,
                ratios=ratios,
                weight=weight.get(reduction),
                shard=shard,
                pool=pool,
            )
            for anchors, positives, in_batch, beta in directions
        ]
        if reduction == "none":
            return Components(*(torch.cat(parts) for parts in zip(*terms, strict=True)))
        return Components(
            *(global_value(torch.stack(parts).sum(), shard) for parts in zip(*terms, strict=True))
        )


def _find_pool(negatives: Tensor | None, shard: Shard) -> Shard:
    """Where the given negatives lie: shared ones are gathered, those of an anchor stay with it."""
    if negatives is None or negatives.ndim == 3:
        return Shard((0 if negatives is None else negatives.shape[1],), 0)
    return find_shard(len(negatives), negatives.device, gather_distributed=shard.processes > 1)


def _check_any_negative(candidates: Candidates, shard: Shard, pool: Shard) -> None:
    in_batch = 0 if candidates == "none" else shard.total - 1
    if pool.total + in_batch == 0:
        raise ValueError(
            f"no anchor has a negative: got {shard.total} pair(s) with `candidates={candidates!r}` and"
            f" {pool.total} `negatives`; give at least 2 pairs or some negatives"
        )
