"""InfoNCE by rows of logits, one direction after the other: for any similarity and any candidates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from aninfonce.losses._batch import Batch
from aninfonce.losses._prepare import (
    Potential,
    Ratios,
    SimilarityFunction,
    inverse_temperature,
    pair_similarity,
    potential_values,
    to_working,
)
from aninfonce.losses.gather import Shard, gather_rows
from aninfonce.losses.kernel.candidates import candidate_lse
from aninfonce.losses.kernel.probes import Probes
from aninfonce.similarities import LinearStep, PerAnchor, Similarity


class Everyone(NamedTuple):
    """The rows of all processes, or of this one alone where that is enough."""

    z0: Tensor
    z1: Tensor
    negatives: Tensor | None
    ratios: Ratios | None


def gather(batch: Batch) -> Everyone:
    """Collect what the candidates need from all processes."""
    z0, z1, negatives, ratios, shard = batch.z0, batch.z1, batch.negatives, batch.ratios, batch.shard
    if shard.processes > 1:
        # Whether a view is among the candidates of its own anchors, and of those of the other view.
        own, other = batch.candidates not in ("positives", "none"), batch.candidates in ("positives", "both")
        z0 = gather_rows(z0, shard) if own or (batch.symmetric and other) else z0
        z1 = gather_rows(z1, shard) if other or (batch.symmetric and own) else z1
        if negatives is not None and negatives.ndim == 2:
            negatives = gather_rows(negatives, batch.pool)
            ratios = ratios and Ratios(gather_rows(ratios.negatives, batch.pool), ratios.positives)
    return Everyone(z0, z1, negatives, ratios)


def by_rows(batch: Batch, everyone: Everyone, probes: Probes | None) -> tuple[Tensor, Tensor]:
    """Alignment and uniformity; exact without probes, which takes longer, in float64 where that helps."""
    dtype = torch.promote_types(torch.promote_types(batch.z0.dtype, batch.z1.dtype), torch.float32)
    known = isinstance(batch.similarity, Similarity) and batch.similarity.form is not None
    known = known or isinstance(batch.similarity, LinearStep | PerAnchor)
    if probes is None and known and batch.z0.device.type != "mps":
        dtype = torch.float64

    def working(z: Tensor) -> Tensor:
        return to_working(z, batch.normalize, dtype, probes)

    own = working(batch.z0), working(batch.z1)
    whole = [
        mine if all_rows is rows else working(all_rows)
        for all_rows, rows, mine in zip(everyone[:2], (batch.z0, batch.z1), own, strict=True)
    ]
    negatives = None if everyone.negatives is None else working(everyone.negatives)
    terms = []
    for direction, potential in enumerate(batch.potentials[: 1 + batch.symmetric]):
        in_batch = [whole[1 - direction]] if batch.candidates in ("positives", "both") else []
        in_batch += [whole[direction]] if batch.candidates not in ("positives", "none") else []
        terms.append(
            one_direction(
                own[direction],
                own[1 - direction],
                in_batch,
                negatives,
                similarity=batch.similarity,
                scale=inverse_temperature(batch.temperature, own[0]),
                exclude_self=batch.candidates != "anchors+self",
                potential=potential,
                ratios=everyone.ratios,
                weight=batch.weight,
                shard=batch.shard,
                probes=probes,
            )
        )
    alignment, uniformity = (
        torch.cat(parts) if batch.weight is None else torch.stack(parts).sum()
        for parts in zip(*terms, strict=True)
    )
    return alignment, uniformity


def one_direction(
    anchors: Tensor,
    positives: Tensor,
    in_batch: Sequence[Tensor],
    negatives: Tensor | None,
    *,
    similarity: SimilarityFunction,
    scale: Tensor,
    exclude_self: bool,
    potential: Potential | None,
    ratios: Ratios | None,
    weight: float | None,
    shard: Shard,
    probes: Probes | None,
) -> tuple[Tensor, Tensor]:
    """Alignment and uniformity of each anchor, or weighted and summed if a weight is given.

    Args:
        anchors: (n, d), of this process.
        positives: (n, d).
        in_batch: Blocks of candidates (N, d) from all processes.
        negatives: (n, K, d) of this process, or (M, d) from all processes, or None.
        similarity: From (n, d) and (M, d) to (n, M).
        scale: One over the temperature, ().
        exclude_self: Leave out row i of every block for anchor i.
        potential: Added to each candidate's logit.
        ratios: Density ratios of the negatives, if they are to be corrected for.
        weight: Weight of each anchor, or None for no reduction.
        shard: Where the rows of this process lie in a block.
        probes: Where to note what decides whether the result is exact; without them it always is.

    """
    # The positive is a logit of its own, and no anchor is its own negative (except as cl-ica counts).
    blocks = len(in_batch) if exclude_self else 0
    excluded = [block * shard.total + shard.start for block in range(blocks)]
    logits = _collect(anchors, positives, in_batch, negatives, similarity, scale, potential)
    lse = partial(candidate_lse, similarity, scale, anchors, probes=probes)
    if ratios is not None:
        corrected = ratios.positives.to(anchors), ratios.negatives.to(anchors)
        alignment, uniformity = _mixed(logits, lse, excluded, *corrected)
        if weight is None:
            return alignment, uniformity
        return alignment.sum() * weight, uniformity.sum() * weight
    uniformity = lse(logits.shared, logits.bias, logits.own, excluded=excluded, weight=weight)
    alignment = -logits.own[:, 0]
    return alignment if weight is None else alignment.sum() * weight, uniformity


class _Logits(NamedTuple):
    shared: Tensor
    """Candidates of every anchor, (M, d): the in-batch ones, then the shared negatives."""
    bias: Tensor
    """Added to their logits, (M,)."""
    own: Tensor
    """Logits of each anchor's own candidates, (n, 1 + K): the positive, then its negatives."""
    in_batch: int
    """How many of `shared` are in-batch."""


def _collect(
    anchors: Tensor,
    positives: Tensor,
    in_batch: Sequence[Tensor],
    negatives: Tensor | None,
    similarity: SimilarityFunction,
    scale: Tensor,
    potential: Potential | None,
) -> _Logits:
    n, d = anchors.shape
    shared = torch.cat([*in_batch, anchors[:0]])
    own_rows = [positives]
    own = [pair_similarity(similarity, anchors, positives)[:, None] * scale]
    if negatives is not None and negatives.ndim == 2:
        shared = torch.cat([shared, negatives])
    elif negatives is not None:
        own_rows.append(negatives.reshape(-1, d))
        repeated = anchors[:, None].expand_as(negatives).reshape(-1, d)
        own.append(pair_similarity(similarity, repeated, own_rows[-1]).reshape(n, -1) * scale)
    bias, logits = anchors.new_zeros(len(shared)), torch.cat(own, dim=1)
    if potential is not None:
        # One call, so that a potential with batch statistics or dropout is the same for all.
        beta = potential_values(potential, torch.cat([shared, *own_rows]))
        bias, *beta_own = torch.split(beta, [len(shared), *map(len, own_rows)])
        logits = logits + torch.cat([part.reshape(n, -1) for part in beta_own], dim=1)
    return _Logits(shared, bias, logits, sum(map(len, in_batch)))


def _mixed(
    logits: _Logits,
    lse: Callable[..., Tensor],
    excluded: Sequence[int],
    positive_ratio: Tensor,
    negative_ratio: Tensor,
) -> tuple[Tensor, Tensor]:
    """Alignment and uniformity, (n,) each, for hard negatives of known density ratio ρ.

    Think of m + 1 ordinary and K hard places, of which the positive has taken any one. Given all candidates
    x, it sits at place j with a probability ∝ p(x)/q(x), where q is the density of that place: the logit is
    f(x) for ordinary places and f(x) − log ρ(x) for hard ones, with f = log p(x)/u(x), whatever m and K. So
    the loss is the mean, over both kinds of places, of the loss of finding the positive there. In a hard
    place it replaces one hard negative, which is left out; the ordinary negatives are then one short, so
    their sum counts (m + 1)/m times.
    """
    positive, n = logits.own[:, 0], len(logits.own)
    nothing = logits.own.new_full((n, 1), -torch.inf)
    ordinary = logits.in_batch - len(excluded)
    if logits.own.shape[1] > 1:
        hard = logits.own[:, 1:] - negative_ratio
        count = hard.shape[1]
        sums = [torch.logsumexp(part, dim=1) for part in (hard, hard[:, :-1])]
    else:
        keys, bias = logits.shared[logits.in_batch :], logits.bias[logits.in_batch :] - negative_ratio
        count = len(keys)
        sums = [lse(keys[:stop], bias[:stop], nothing) for stop in (count, count - 1)]
    in_hard_place = positive - positive_ratio
    if ordinary == 0:
        return -in_hard_place, torch.logsumexp(torch.stack([in_hard_place, sums[0]]), dim=0)
    first = slice(0, logits.in_batch)
    others = lse(logits.shared[first], logits.bias[first], nothing, excluded=excluded)
    as_ordinary = torch.logsumexp(torch.stack([positive, others, sums[0]]), dim=0)
    rest = [others + math.log1p(1 / ordinary), *sums[1:][: count - 1]]
    as_hard = torch.logsumexp(torch.stack([in_hard_place, *rest]), dim=0)
    share = count / (ordinary + 1 + count)
    return share * positive_ratio - positive, (1 - share) * as_ordinary + share * as_hard
