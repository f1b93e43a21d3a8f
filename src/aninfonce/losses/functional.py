"""InfoNCE as a pure function; the modules InfoNCE, AnInfoNCE, NTXent and LpInfoNCE are cases of it."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from aninfonce._validation import check_choice, check_flag
from aninfonce.losses._batch import CANDIDATES, REDUCTIONS, Batch, Candidates, Reduction
from aninfonce.losses._prepare import (
    Potential,
    SimilarityFunction,
    check_negatives,
    check_ratios,
    check_temperature,
    check_views,
)
from aninfonce.losses.gather import Shard, find_shard, global_value
from aninfonce.losses.plain import plain_loss
from aninfonce.losses.terms import evaluate
from aninfonce.similarities import Dot, Similarity


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
    `"anchors"` is exact for uniform anchors. Positives are in general not uniform, so the other sets and
    symmetry need a `potential`; `"both"` and `"anchors+self"` mix candidates of two kinds, and are then
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
            `Similarity` is fastest; a plain function is computed in one piece, N × M.
        temperature: Divides the similarity; positive. A tensor gets a gradient.
        symmetric: Also use the second view as anchors.
        candidates: Which in-batch embeddings are negatives, see the table.
        normalize: Scale all embeddings to unit length first. Off here, since not every similarity
            lives on the sphere; each module states its own default.
        potential: β, from (n, d) to (n,), added to the logit of each candidate. It absorbs a density of
            the candidates that is not uniform. A tuple holds one for each direction.
        negatives_log_ratio: For hard negatives: the log of the density that they were drawn from over that
            of the in-batch ones, at each of them, (N, K) or (M,). It keeps the optimum where it is without
            hard negatives; otherwise it moves to the ratio of the positives' density to theirs.
        positives_log_ratio: The same ratio at each positive, (N,); goes with `negatives_log_ratio`.
        reduction: "mean", "sum", or "none" for (N,) or, if symmetric, (2N,) with the second view last.
        gather_distributed: Use the embeddings of all processes as candidates. "mean" and "sum" then
            give the value of the whole batch on every process, and gradients that become those of the
            whole batch by averaging over processes, as DistributedDataParallel does. Batches may differ
            in size.

    Returns:
        The loss in float32, or float64 for float64 input.

    References:
        van den Oord et al., "Representation learning with contrastive predictive coding" (2018).
        Rusak et al., "InfoNCE: identifying the gap between theory and practice" (2025).

    """
    if (
        negatives is None
        and potential is None
        and negatives_log_ratio is None
        and positives_log_ratio is None
    ):
        value = plain_loss(z0, z1, similarity, temperature, symmetric, candidates, normalize, reduction)
        if value is not None:
            return value
    batch = _checked(
        z0,
        z1,
        negatives,
        similarity,
        temperature,
        symmetric,
        candidates,
        normalize,
        potential,
        negatives_log_ratio,
        positives_log_ratio,
        reduction,
        gather_distributed,
    )
    terms = _everywhere(batch, evaluate(batch, split=False))
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


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
    batch = _checked(
        z0,
        z1,
        negatives,
        similarity,
        temperature,
        symmetric,
        candidates,
        normalize,
        potential,
        negatives_log_ratio,
        positives_log_ratio,
        reduction,
        gather_distributed,
    )
    return Components(*_everywhere(batch, evaluate(batch, split=True)))


def _checked(
    z0: Tensor,
    z1: Tensor,
    negatives: Tensor | None,
    similarity: SimilarityFunction | None,
    temperature: float | Tensor,
    symmetric: bool,
    candidates: Candidates,
    normalize: bool,
    potential: Potential | tuple[Potential, Potential] | None,
    negatives_log_ratio: Tensor | None,
    positives_log_ratio: Tensor | None,
    reduction: Reduction,
    gather_distributed: bool,
) -> Batch:
    """Check all arguments; values that are not finite show in the result."""
    check_views(z0, z1, finite=False)
    if similarity is None:
        similarity = Dot()
    elif isinstance(similarity, Similarity):
        similarity.check_width(z0=z0)
    check_temperature(temperature)
    check_choice(candidates, "candidates", CANDIDATES)
    check_choice(reduction, "reduction", REDUCTIONS)
    symmetric, normalize = check_flag(symmetric, "symmetric"), check_flag(normalize, "normalize")
    if negatives is not None:
        check_negatives(negatives, z0)
    ratios = check_ratios(negatives, negatives_log_ratio, positives_log_ratio, z0, symmetric)
    shard = find_shard(z0.shape[0], z0.device, gather_distributed)
    pool = _find_pool(negatives, shard)
    _check_any_negative(candidates, shard, pool)
    potentials = potential if isinstance(potential, tuple) else (potential, potential)
    return Batch(
        z0,
        z1,
        negatives,
        similarity,
        temperature,
        symmetric,
        candidates,
        normalize,
        potentials,
        ratios,
        reduction,
        shard,
        pool,
    )


def _everywhere(batch: Batch, terms: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Replace values by those of all processes, unless each anchor has its own."""
    if batch.shard.processes == 1 or batch.reduction == "none":
        return terms
    return tuple(global_value(term, batch.shard) for term in terms)


def _find_pool(negatives: Tensor | None, shard: Shard) -> Shard:
    """Locate the given negatives: shared ones are gathered, an anchor's own stay with it."""
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
