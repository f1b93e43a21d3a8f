"""Figure 2 of cl-ica: R² falls once anchors are more concentrated than positives are around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from aninfonce.distributions import Uniform, VonMisesFisher
from aninfonce.extending import stream
from aninfonce.metrics import linear_r2
from aninfonce.processes import ProcessSettings
from aninfonce.spaces import Sphere
from aninfonce_papers.engine import Experiment, Loss, Metrics, Preset, Row, Study
from aninfonce_papers.engine.drawing import marks, new_figure
from aninfonce_papers.engine.on_process import SIZES, Outcome, ProcessScore, curves, on_process
from aninfonce_papers.engine.published import CL_ICA
from aninfonce_papers.engine.row import shown_name
from aninfonce_papers.zimmermann2021.cl_ica import LOSSES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The conditional of row 2 of Table 1, and anchors from nearly uniform to ten times as concentrated.
_CONDITIONAL = 10.0
_MARGINALS = (0.1, 1.0, 3.0, 10.0, 30.0, 100.0)
_DIM = 10
# Anchors around one pole span the inputs unevenly: these are decorrelated, and learned from at higher rates.
_WITH_POTENTIAL: dict[str, Any] = {"whiten": True, "rates": 2.0, "adam_lr": 0.02}
# Second views lie further apart than anchors do: as anchors and candidates too, they are learned from best.
_POTENTIAL = Loss(options={"potential": True, "symmetric": True, "candidates": "both"})
_DRAWS = {"smoke": 2_000, "laptop": 100_000, "paper": 100_000}


class DistanceFromUniform(ProcessScore):
    """R² on the same anchors' law, and that law's total variation distance from the uniform one.

    Attributes:
        marginal: κ of the anchors.
        draws: to estimate the distance.

    """

    marginal: float
    draws: int

    def measure(self, outcome: Outcome) -> Metrics:
        """Score one training."""
        distance = distance_from_uniform(outcome.process.dim, self.marginal, self.draws, outcome.seed)
        return {
            "R²": linear_r2(outcome.z, outcome.embedding).mean,
            "mass to move": distance,
            "curves": curves(outcome.fitted, "r2"),
        }


def experiments(preset: Preset) -> list[Experiment]:
    """Give the concentrations of the anchors, trained on as in Table 1, and with a potential β."""
    return [
        *(_experiment(preset, kappa, potential=False) for kappa in _MARGINALS),
        *(_experiment(preset, kappa, potential=True) for kappa in _MARGINALS),
    ]


def _experiment(preset: Preset, kappa: float, *, potential: bool) -> Experiment:
    sizes = SIZES[preset]
    if potential and preset != "paper":
        sizes = replace(sizes, **_WITH_POTENTIAL)
    return on_process(
        _name(kappa, potential=potential),
        ProcessSettings.model_validate(
            {
                "space": "sphere",
                "dim": _DIM,
                "marginal": {"kind": "vmf", "concentration": kappa},
                "conditional": {"kind": "vmf", "concentration": _CONDITIONAL},
            }
        ),
        sizes,
        DistanceFromUniform(test_pairs=sizes.test_pairs, marginal=kappa, draws=_DRAWS[preset]),
        loss=_POTENTIAL if potential else LOSSES["vMF"],
        # With β in Rᵈ: the recipe's map to the sphere assumes uniform anchors.
        space="unbounded" if potential else "learnable-sphere",
        slower=1.8 if potential else 1.0,
    )


def _name(kappa: float, *, potential: bool = False) -> str:
    return f"κ={kappa:g}, β" if potential else f"κ={kappa:g}"


def distance_from_uniform(dim: int, kappa: float, draws: int, seed: int) -> float:
    """Estimate the total variation distance of a von Mises–Fisher law from the uniform one.

    >>> distance_from_uniform(10, 1e-6, 1_000, seed=0) < 0.001
    True
    >>> distance_from_uniform(10, 100.0, 1_000, seed=0) > 0.9
    True
    """
    law = VonMisesFisher(torch.eye(dim, dtype=torch.float64)[:1].expand(draws, dim), kappa)
    x = law.sample(stream(seed, "mass to move"))
    ratio = Uniform(Sphere(dim)).log_prob(x) - law.log_prob(x)
    # ½∫|p − u| = E_p[max(0, 1 − u/p)].
    return float((1.0 - ratio.exp()).clamp_min(0.0).mean())


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² and the distance from uniform over the anchors' concentration."""
    figure = new_figure(5.0, 3.6)
    axes = figure.add_subplot()
    places = {_name(kappa): kappa for kappa in _MARGINALS}
    for metric, colour in (("R²", "black"), ("mass to move", "C0")):
        marks(axes, rows, places, metric, color=colour, alpha=0.7, label=shown_name(metric))
    corrected = {_name(kappa, potential=True): kappa for kappa in _MARGINALS}
    marks(axes, rows, corrected, "R²", color="C2", alpha=0.7, label="R² with β")
    axes.axvline(_CONDITIONAL, color="black", linestyle=":", linewidth=1, label="κ of the conditional")
    axes.set(xscale="log", xlabel="κ of the anchors", ylim=(-0.05, 1.05))
    axes.legend()
    return {"marginals": figure}


STUDY = Study(
    name="marginals",
    title="Anchors that are not uniform",
    paper=CL_ICA,
    source="Figure 2, a curve without numbers at hand",
    experiments=experiments,
    plot=plot,
    remarks=(
        "Rows with β, which are ours, have a trained potential of the candidates beside −½ΔᵀΛ̂Δ, in Rᵈ and on"
        " decorrelated inputs, and second views as anchors and candidates as well. The loss of the others"
        " assumes uniform anchors.",
    ),
)
