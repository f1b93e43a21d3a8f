"""Figure 11: two kinds of pairs with a Λ̂ each identify more than one kind alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import torch
from pydantic import JsonValue
from torch import Generator, Tensor, nn

from aninfonce.alignment import sphering_map
from aninfonce.distributions import Conditional
from aninfonce.extending import ConditionalFactory
from aninfonce.losses import AlternatingLoss, EnsembleAnInfoNCE
from aninfonce.metrics import linear_r2
from aninfonce.processes import DataGeneratingProcess, EnsembleProcess, ensemble_process
from aninfonce.training import Fitted
from aninfonce_papers.engine import Encoder, Experiment, Loss, Metrics, Preset, Published, Row, Study
from aninfonce_papers.engine.drawing import new_figure, traces
from aninfonce_papers.engine.on_process import (
    WIDE_SIZES,
    Outcome,
    ProcessPairs,
    ProcessScore,
    curves,
    on_process,
    rounded,
)
from aninfonce_papers.engine.published import ANINFONCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED = {"InfoNCE": 0.48, "AnInfoNCE": 0.93, "ensemble": 0.98}
# How much longer a step takes than that of a study with 10 latents.
_SLOWNESS = {"InfoNCE": 2.0, "AnInfoNCE": 3.0, "one Λ̂ for both": 3.0, "ensemble": 2.5}
# Latents that neither kind changes much.
_SHARED = 3


class EnsemblePairs(ProcessPairs):
    """Pairs of two kinds that share a mixing: one kind alone, or both in turn.

    Attributes:
        process: unused; the two kinds are Corollary B.2's.
        kind: 1 or 2 for one of them; None for both.

    """

    process: str = "fig11"
    kind: int | None = None

    def open(self, seed: int) -> DataGeneratingProcess:
        """Build the process; the seed draws the mixing."""
        ensemble = ensemble_process(seed, candidates=self.candidates)
        return alternate(ensemble) if self.kind is None else ensemble.processes[self.kind - 1]


class EnsembleLoss(Loss):
    """A Λ̂ for each of two kinds of pairs that come in turn.

    Attributes:
        positive_map: how Λ̂ is kept positive.

    """

    name: str = "aninfonce"
    positive_map: Literal["exp", "softplus"] = "exp"

    def module(self, dim: int, seed: int) -> nn.Module:
        """Build it."""
        return AlternatingLoss(EnsembleAnInfoNCE(dim, 2, normalize=False, positive_map=self.positive_map))


class BothConcentrations(ProcessScore):
    """R², and Λ̂ of one kind or of both."""

    def measure(self, outcome: Outcome) -> Metrics:
        """Score one training."""
        metrics: dict[str, JsonValue] = {"R²": linear_r2(outcome.z, outcome.embedding).mean}
        if isinstance(outcome.fitted.loss, AlternatingLoss):
            embedding, concentration = joint_concentration(outcome.fitted, outcome.test.x)
            alternating = _alternating(outcome.z, embedding)
            found = torch.corrcoef(concentration[:, alternating])
            metrics["correlation of Λ̂₁ and Λ̂₂"] = float(found[0, 1])
            metrics["Λ̂"] = [[round(value, 3) for value in kind] for kind in concentration.tolist()]
        elif outcome.fitted.concentration is not None:
            metrics["Λ̂"] = rounded(outcome.concentration, 3)
        return {**metrics, "curves": curves(outcome.fitted, "r2")}


def experiments(preset: Preset) -> list[Experiment]:
    """Give both losses on the second kind of pairs, one Λ̂ for both kinds, and the ensemble."""
    sizes, paper = WIDE_SIZES[preset], preset == "paper"
    known: dict[str, dict[str, Published]] = {
        name: {"R²": Published(r2, precision=0.005, goal="equal" if name == "InfoNCE" else "higher")}
        for name, r2 in PUBLISHED.items()
    }
    # The paper shows that they are anti-correlated, and no number.
    known["ensemble"]["correlation of Λ̂₁ and Λ̂₂"] = Published(0.0, goal="lower")
    losses: dict[str, Loss] = {
        "InfoNCE": Loss(name="infonce"),
        "ensemble": EnsembleLoss(positive_map="softplus" if paper else "exp"),
    }
    score = BothConcentrations(test_pairs=sizes.test_pairs)
    # The paper does not say which pairs InfoNCE and AnInfoNCE see. Of the second kind 10 latents of 20 vary
    # weakly, about the share of them that InfoNCE keeps in the paper.
    kinds = {"InfoNCE": 2, "AnInfoNCE": 2}
    return [
        on_process(
            name, "", sizes, score, known.get(name), loss=losses.get(name), slower=slowness
        ).model_copy(
            update={
                "pairs": EnsemblePairs(kind=kinds.get(name), candidates=sizes.candidates),
                # In Rᵈ from start to end: nothing folds there, and R² is the same under any affine map.
                "encoder": Encoder(space="unbounded" if name == "ensemble" and not paper else "sphere"),
            }
        )
        for name, slowness in _SLOWNESS.items()
    ]


def _alternating(z: Tensor, embedding: Tensor) -> list[int]:
    """Find the columns of the embedding that hold least of the latents which both kinds share."""
    d = z.shape[1]
    correlation = torch.corrcoef(torch.cat([z.double(), embedding.double()], dim=1).T)[:_SHARED, d:]
    return sorted(correlation.square().sum(dim=0).argsort()[: d - _SHARED].tolist())


class Alternating(Conditional):
    """Row i is drawn from law i mod k: of two laws, a slice of even length holds as many pairs of each."""

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


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² over the steps (A) and the two Λ̂ of each column of the ensemble against each other (B)."""
    figure = new_figure(8.0, 3.4)
    left, right = figure.subplots(1, 2)
    for number, (method, r2) in enumerate({**PUBLISHED, "one Λ̂ for both": None}.items()):
        mine = [row for row in rows if row.cell == method]
        traces(left, mine, method, color=f"C{number}")
        if mine:
            left.plot([], [], color=f"C{number}", label=method)
            if r2 is not None:
                left.axhline(r2, color=f"C{number}", linestyle=":", linewidth=1)
        for row in mine if method == "ensemble" else ():
            first, second = row.numbers("Λ̂")
            right.loglog(first, second, "o", color=f"C{number}", alpha=0.5)
    right.loglog([15, 250, 400], [250, 15, 400], "+", color="black", markersize=14, label="true Λ")
    left.set(xlabel="step", ylabel="R²", title="A (dotted: published, at its end)", ylim=(0.0, 1.05))
    right.set(xlabel="Λ̂₁", ylabel="Λ̂₂", title="B, C: one point per column")
    left.legend(fontsize=8)
    right.legend(fontsize=8)
    return {"ensemble": figure}


STUDY = Study(
    name="fig11",
    title="An ensemble of two kinds of pairs",
    paper=ANINFONCE,
    source="Appendix H.3 and Figure 11; R² on held-out pairs",
    experiments=experiments,
    plot=plot,
)
