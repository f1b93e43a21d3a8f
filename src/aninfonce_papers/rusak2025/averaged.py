"""AnInfoNCE over several small batches per step: the gradient of the small batch size, with less noise."""

from __future__ import annotations

from typing import Annotated

import torch
from pydantic import Field, PositiveFloat
from torch import Tensor

from aninfonce.losses import AnInfoNCE
from aninfonce_papers.engine import Loss


class AveragedAnInfoNCE(AnInfoNCE):
    """Mean of AnInfoNCE over consecutive batches, each with its own negatives alone.

    An anchor has size − 1 negatives, however many pairs are given: the expected gradient, and so the
    optimum, are those of single batches of that size. As `AnInfoNCE` has it by default, the other anchors are
    the negatives; no other settings are supported.

    Example:
        >>> import torch
        >>> z0, z1 = torch.randn(2, 40, 3, generator=torch.Generator().manual_seed(0))
        >>> averaged = AveragedAnInfoNCE(3, 10)(z0, z1)
        >>> singles = [AnInfoNCE(3)(a, p) for a, p in zip(z0.split(10), z1.split(10))]
        >>> torch.allclose(averaged, torch.stack(singles).mean())
        True

    Args:
        dim: number of dimensions d.
        size: pairs of a batch; pairs beyond a multiple of it are left out.
        initial: starting value of Λ̂.
        normalize: bring the embeddings to unit length first.

    """

    def __init__(self, dim: int, size: int, *, initial: float = 1.0, normalize: bool = True) -> None:
        super().__init__(dim, initial=initial, normalize=normalize)
        self.size = size

    def forward(
        self,
        z0: Tensor,
        z1: Tensor,
        negatives: Tensor | None = None,
        *,
        negatives_log_ratio: Tensor | None = None,
        positives_log_ratio: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss of anchors (N, d) and positives (N, d)."""
        if not (negatives is negatives_log_ratio is positives_log_ratio is None):
            raise ValueError(
                "`negatives` and log ratios must be left out: negatives are the other anchors of a batch"
            )
        if len(z0) < self.size:
            raise ValueError(f"`z0` must have at least {self.size} rows, one batch, got {len(z0)}")
        whole = len(z0) // self.size * self.size
        if self.normalize:
            z0, z1 = (torch.nn.functional.normalize(z, dim=1) for z in (z0, z1))
        # −½ΔᵀΛ̂Δ is −½|Δ|² of the columns times √Λ̂; what an anchor has in common with all its candidates,
        # its own length, cancels.
        anchors, positives = (
            (z[:whole] * self.concentration.sqrt()).view(-1, self.size, z.shape[1]) for z in (z0, z1)
        )
        to_positive = (anchors * positives).sum(dim=2) - 0.5 * positives.square().sum(dim=2)
        to_anchors = torch.baddbmm(-0.5 * anchors.square().sum(dim=2).unsqueeze(1), anchors, anchors.mT)
        # The diagonal compares an anchor with itself: its positive takes that place.
        logits = torch.diagonal_scatter(to_anchors, to_positive, dim1=1, dim2=2)
        return (logits.logsumexp(dim=2) - to_positive).mean()


class AveragedLoss(Loss):
    """The loss of `AveragedAnInfoNCE`.

    Attributes:
        size: pairs of a batch; the recipe's `batch_size` counts the pairs of a step.
        initial: Λ̂ at the start.

    """

    name: str = "custom"
    size: Annotated[int, Field(ge=2)]
    initial: PositiveFloat = 1.0

    def module(self, dim: int, seed: int) -> AveragedAnInfoNCE:
        """Build it, for embeddings that the encoder's head has put where they live."""
        return AveragedAnInfoNCE(dim, self.size, initial=self.initial, normalize=False)
