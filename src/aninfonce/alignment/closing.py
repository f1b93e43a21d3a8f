"""After the last step: make the sphere round, turn it to its axes, and fit Λ̂, all on the frozen embedding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Generator, Tensor, nn

from aninfonce.alignment.columns import set_concentration
from aninfonce.alignment.folding import FoldingCheck, check_folding
from aninfonce.alignment.likelihood import fit_likelihood, flat_loss, metric_loss, step_moments
from aninfonce.alignment.metric import fit_metric
from aninfonce.alignment.sphering import sphering_map
from aninfonce.encoders.embedding import Embedding, compose_affine, embed_in_chunks
from aninfonce.losses import AnInfoNCE
from aninfonce.losses.gather import alone
from aninfonce.recipe import Closing
from aninfonce.similarities import Anisotropic
from aninfonce.sources.base import PairSource

# Λ̂ below this is kept there: the embedding holds nothing that pairs share along the direction.
_SMALLEST = 0.05
# Nats of loss below which fewer than one positive in ten is mistaken for a negative. A contrastive fit then
# depends on the longest steps alone, so the likelihood of positives given anchors takes its place.
_FEW_MISTAKEN = 0.1


@dataclass(frozen=True)
class Closed:
    """What the closing fits found.

    Attributes:
        concentration: Λ̂ (d,), ascending.
        loss: on fresh pairs, in batches of `block`.
        folding: the label-free check.
        by_likelihood: whether Λ̂ is that of the likelihood of positives given anchors, without negatives.

    """

    concentration: Tensor
    loss: float
    folding: FoldingCheck
    by_likelihood: bool


@alone()
def close(
    embedding: Embedding,
    last: nn.Linear,
    loss: AnInfoNCE,
    source: PairSource,
    settings: Closing,
    generator: Generator,
) -> Closed:
    """Finish an embedding on the sphere; encoder and loss are changed in place.

    The fits take float32 at least, whatever the precision of the weights.

    1. Sphering removes a linear warp that costs almost no loss, and so trains away slowly. It uses the
       anchors of both fits below.
    2. A full metric, fitted on fresh pairs, gives the axes: the embedding is rotated to its eigenvectors.
    3. The diagonal Λ̂ is fitted on more fresh pairs.

    Both fits are contrastive, as the training was, unless the loss of the pairs is below 0.1 nats: where so
    few positives are mistaken for negatives, the axes are those of the steps' second moments, and Λ̂ maximises
    the likelihood of positives given anchors.

    Args:
        embedding: with the sphere's head.
        last: the linear layer that its body ends in.
        loss: its Λ̂ is where the fits start, and is replaced by their result.
        source: gives fresh pairs.
        settings: sizes of the fits.
        generator: draws pairs for the folding check.

    Returns:
        Λ̂, the loss and the folding check.

    """
    similarity = loss.similarity
    assert isinstance(similarity, Anisotropic)
    device = last.weight.device

    def flat_pairs(n: int) -> tuple[Tensor, Tensor]:
        pairs = source.fresh(n)
        return flat(pairs.x), flat(pairs.x_pos)

    def flat(x: Tensor) -> Tensor:
        rows = embed_in_chunks(embedding, x.to(device), embedding.headless)
        return rows.to(torch.promote_types(rows.dtype, torch.float32))

    def on_sphere(rows: Tensor) -> Tensor:
        mapped: Tensor = embedding.head(sphering(rows).to(rows))
        return mapped

    for_axes, for_concentration = (flat_pairs(n) for n in (settings.pairs, settings.concentration_pairs))
    before = embedding.head(for_axes[0])
    # Of n uniform points, the moments along the axes that look longest and shortest are off by 2√(d/n), and
    # so are the Λ̂ along them: every anchor at hand counts.
    sphering = sphering_map(torch.cat([for_axes[0], for_concentration[0]]))
    compose_affine(last, sphering.matrix, sphering.centre)

    anchors, positives = map(on_sphere, for_axes)
    block = min(settings.block, len(anchors))
    moments = step_moments(anchors, positives)
    by_likelihood = flat_loss(anchors, positives, moments, block=block) < _FEW_MISTAKEN
    fit = partial(fit_metric, block=block, iterations=settings.iterations)
    full = (
        moments.cpu() if by_likelihood else fit(anchors, positives, similarity.concentration.detach()).matrix
    )
    values, axes = torch.linalg.eigh(full)
    compose_affine(last, axes.T.to(device), torch.zeros_like(sphering.centre))

    # Not the pairs that the axes are from: along those, the largest Λ̂ would come out too large.
    anchors, positives = (on_sphere(rows) @ axes.to(rows) for rows in for_concentration)
    if by_likelihood:
        found = fit_likelihood(anchors, positives).clamp_min(_SMALLEST)
        value = metric_loss(anchors, positives, torch.diag(found), block=block)
    else:
        diagonal = fit(anchors, positives, values.clamp_min(_SMALLEST), diagonal=True)
        found, value = diagonal.matrix.diagonal().clamp_min(_SMALLEST), diagonal.loss

    # In ascending order, so that equal runs give equal columns whatever the last fit did.
    order = found.argsort()
    compose_affine(
        last, torch.eye(len(order), dtype=torch.float64)[order].to(device), torch.zeros_like(sphering.centre)
    )
    found = found[order]
    set_concentration(similarity, found.to(device))
    check = check_folding(before, found.to(before), value, block=block, generator=generator)
    return Closed(found.float(), value, check, by_likelihood)
