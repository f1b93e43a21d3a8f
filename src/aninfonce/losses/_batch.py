"""The arguments of a loss after they were checked."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from torch import Tensor

from aninfonce.losses._prepare import Potential, Ratios, SimilarityFunction
from aninfonce.losses.gather import Shard

Candidates = Literal["anchors", "anchors+self", "positives", "both", "none"]
Reduction = Literal["mean", "sum", "none"]

CANDIDATES: tuple[str, ...] = get_args(Candidates)
REDUCTIONS: tuple[str, ...] = get_args(Reduction)


class Batch(NamedTuple):
    """The arguments of `info_nce`, whose docstring explains them."""

    z0: Tensor
    z1: Tensor
    negatives: Tensor | None
    similarity: SimilarityFunction
    temperature: float | Tensor
    symmetric: bool
    candidates: Candidates
    normalize: bool
    potentials: tuple[Potential | None, Potential | None]
    """One for each direction."""
    ratios: Ratios | None
    reduction: Reduction
    shard: Shard
    """Where this process's rows lie among those of all processes."""
    pool: Shard
    """Where its shared negatives lie."""

    @property
    def weight(self) -> float | None:
        """Weight of this process's anchors, so that averaging over processes gives the whole batch."""
        if self.reduction == "none":
            return None
        anchors = self.shard.total * (1 + self.symmetric)
        return self.shard.processes / (anchors if self.reduction == "mean" else 1)
