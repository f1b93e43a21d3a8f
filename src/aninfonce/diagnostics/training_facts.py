"""How an encoder was trained, so that no advice asks for what was already done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import nn

from aninfonce.losses import AlternatingLoss, CandidatePotential, EnsembleAnInfoNCE, LpInfoNCE
from aninfonce.similarities import Anisotropic, FullAnisotropic, PerAnchor
from aninfonce.training import Fitted


@dataclass(frozen=True)
class TrainingFacts:
    """How an encoder was trained.

    Attributes:
        loss: name of the loss, such as "AnInfoNCE"; None if nothing is known.
        anisotropic: whether the loss has a Λ̂ of its own.
        potential: whether it has a candidate potential.
        power: whether its similarity is −‖Δ‖ₚᵖ.
        ensemble: whether it knows several kinds of pairs.
        per_anchor: whether each anchor has a Λ̂ of its own.
        space: where the embedding lives, such as "sphere"; None if unknown.

    """

    loss: str | None = None
    anisotropic: bool = False
    potential: bool = False
    power: bool = False
    ensemble: bool = False
    space: str | None = None
    per_anchor: bool = False

    @property
    def flat(self) -> bool:
        """Whether the embedding is known to live elsewhere than on a sphere."""
        return self.space in ("flat", "box", "unbounded")

    @property
    def keep_more(self) -> str:
        """Advice on how to keep factors that vary strongly within pairs, less what is known to be done."""
        if self.loss is None:
            return "train with AnInfoNCE, unless this encoder was"
        if not self.anisotropic:
            return f"train with AnInfoNCE instead of {self.loss}"
        steps = ["train longer", "give the embedding more columns"]
        if not self.flat:
            steps.append('train in flat space (`space="flat"`)')
        if not self.potential:
            steps.append("add a candidate potential to the loss")
        return f"{', '.join(steps[:-1])} or {steps[-1]}"


def run_of(encoder: Any) -> TrainingFacts:
    """Find out how an encoder was trained.

    Example:
        >>> run_of(nn.Linear(2, 2)).loss is None
        True

    Args:
        encoder: what `audit` was given: a `Fitted`, a fitted estimator or a pipeline that ends in one know
            their loss, a bare module or function does not.

    """
    if isinstance(encoder, Fitted):
        choice = encoder.choice
        return _described(encoder.loss, encoder.config.space if choice is None else choice.space)
    if steps := getattr(encoder, "steps", None):
        return run_of(steps[-1][-1])
    loss = getattr(encoder, "loss_", None)
    if isinstance(loss, nn.Module):
        # Where it ended, which "auto" does not tell.
        return _described(loss, getattr(encoder, "space_", None))
    return TrainingFacts()


def _described(loss: nn.Module, space: str | None) -> TrainingFacts:
    kinds = tuple(loss.modules())
    return TrainingFacts(
        loss=type(loss).__name__,
        anisotropic=any(isinstance(part, Anisotropic | FullAnisotropic | PerAnchor) for part in kinds),
        potential=any(isinstance(part, CandidatePotential) for part in kinds),
        power=isinstance(loss, LpInfoNCE),
        ensemble=isinstance(loss, EnsembleAnInfoNCE | AlternatingLoss),
        space=space,
        per_anchor=any(isinstance(part, PerAnchor) for part in kinds),
    )
