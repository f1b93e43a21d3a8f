"""Several kinds of pairs in one stream, drawn in turn, and what their losses know together."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from aninfonce.alignment import sphering_map
from aninfonce.distributions import Conditional
from aninfonce.extending import ConditionalFactory
from aninfonce.losses import AlternatingLoss
from aninfonce.processes import DataGeneratingProcess, EnsembleProcess
from aninfonce.training import Fitted


class Alternating(Conditional):
    """Row i is drawn from law i mod k: whatever even slice is taken, it holds as many pairs of each kind."""

    def __init__(self, loc: Tensor, laws: Sequence[ConditionalFactory]) -> None:
        self.loc = loc
        self.laws = laws

    def sample(self, generator: Generator | None = None) -> Tensor:
        """Draw one point around each row of `loc`: a tensor (N, d)."""
        drawn = torch.empty_like(self.loc)
        for kind, law in enumerate(self.laws):
            rows = slice(kind, None, len(self.laws))
            if len(self.loc[rows]):
                drawn[rows] = law(self.loc[rows]).sample(generator)
        return drawn


def alternate(ensemble: EnsembleProcess) -> DataGeneratingProcess:
    """Make one process of an ensemble, whose pairs are of each kind in turn."""
    first = ensemble.processes[0]
    laws = [member.conditional for member in ensemble.processes]
    return DataGeneratingProcess(
        first.space, first.marginal, lambda loc: Alternating(loc, laws), first.mixing
    )


@torch.no_grad()
def joint_concentration(fitted: Fitted, x: Tensor) -> tuple[Tensor, Tensor]:
    """Read the Λ̂ of two kinds on a round sphere, in the axes that they share.

    In Rᵈ the scale of each axis is free, and where a Λ̂ has equal entries so is a rotation. The map that
    makes the embedding round carries both metrics along; the eigenvectors of their difference are the axes.

    Args:
        fitted: with an `AlternatingLoss` of two kinds.
        x: observations (N, D) whose latents cover the sphere.

    Returns:
        The embedding of `x` in those axes (N, d), and both Λ̂ (2, d).

    """
    assert isinstance(fitted.loss, AlternatingLoss)
    h = fitted.embed(x)
    sphering = sphering_map(h)
    back = torch.linalg.inv(sphering.matrix)
    metrics = [back.T @ torch.diag(part.double()) @ back for part in fitted.loss.ensemble.concentration]
    axes = torch.linalg.eigh(metrics[0] - metrics[1]).eigenvectors
    concentration = torch.stack([(axes.T @ metric @ axes).diagonal() for metric in metrics])
    return sphering(h) @ axes, concentration
