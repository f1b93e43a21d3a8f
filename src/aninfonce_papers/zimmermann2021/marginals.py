"""Figure 2 of cl-ica: R² falls once anchors are more concentrated than positives are around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from aninfonce.distributions import Uniform, VonMisesFisher
from aninfonce.extending import stream
from aninfonce.metrics import linear_r2
from aninfonce.spaces import Sphere
from aninfonce.training import fit
from aninfonce_papers.engine import trained
from aninfonce_papers.engine.base import CL_ICA, Cell, Metrics, Preset, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

# The conditional of row 2 of Table 1, and anchors from nearly uniform to ten times as concentrated.
_CONDITIONAL = 10.0
_MARGINALS = (0.1, 1.0, 3.0, 10.0, 30.0, 100.0)
_DIM = 10
_DRAWS = {"smoke": 2_000, "laptop": 100_000, "paper": 100_000}


def cells(preset: Preset) -> list[Cell]:
    """Give the concentrations of the anchors."""
    sizes = {**trained.SIZES[preset], "draws": _DRAWS[preset]}
    return [
        Cell(
            f"κ={kappa:g}",
            {
                "process": {
                    "space": "sphere",
                    "dim": _DIM,
                    "marginal": {"kind": "vmf", "concentration": kappa},
                    "conditional": {"kind": "vmf", "concentration": _CONDITIONAL},
                },
                "marginal": kappa,
            },
            sizes,
            estimate=trained.estimate(preset, sizes),
        )
        for kappa in _MARGINALS
    ]


def run(cell: Cell, seed: int) -> Metrics:
    """Train InfoNCE as in Table 1; R² on the same anchors' law, and that law's distance from uniform."""
    settings = cell.configuration
    source = trained.source(settings, seed)
    loss = {"name": "infonce", "options": {"candidates": "anchors+self"}}
    config = trained.training_config(settings, seed, space="learnable-sphere", loss=loss)
    fitted = fit(source, config)
    test = trained.fresh_pairs(source, settings, seed)
    assert test.z is not None
    return {
        "R²": linear_r2(test.z, fitted.embed(test.x)).mean,
        "mass to move": mass_to_move(source.dim, settings["marginal"], settings["draws"], seed),
        "curves": trained.curves(fitted, "r2"),
    }


def mass_to_move(dim: int, kappa: float, draws: int, seed: int) -> float:
    """Estimate the share of probability that has to be moved to make a von Mises–Fisher law uniform.

    >>> mass_to_move(10, 1e-6, 1_000, seed=0) < 0.001 < 0.9 < mass_to_move(10, 100.0, 1_000, seed=0)
    True
    """
    law = VonMisesFisher(torch.eye(dim, dtype=torch.float64)[:1].expand(draws, dim), kappa)
    x = law.sample(stream(seed, "mass to move"))
    ratio = Uniform(Sphere(dim)).log_prob(x) - law.log_prob(x)
    # ½∫|p − u| = E_p[max(0, 1 − u/p)].
    return float((1.0 - ratio.exp()).clamp_min(0.0).mean())


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² and the distance from uniform over the anchors' concentration."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.0, 3.6), layout="constrained")
    axes = figure.add_subplot()
    places = [row["configuration"]["marginal"] for row in rows]
    for metric, colour in (("R²", "black"), ("mass to move", "C0")):
        values = [row["metrics"][metric] for row in rows]
        axes.semilogx(places, values, "o", color=colour, alpha=0.7, label=metric)
    axes.axvline(_CONDITIONAL, color="black", linestyle=":", linewidth=1, label="κ of the conditional")
    axes.set(xlabel="κ of the anchors", ylim=(-0.05, 1.05))
    axes.legend()
    return {"marginals": figure}


STUDY = Study(
    name="marginals",
    title="Anchors that are not uniform",
    paper=CL_ICA,
    source="Figure 2, a curve without numbers at hand",
    cells=cells,
    run=run,
    plot=plot,
)
