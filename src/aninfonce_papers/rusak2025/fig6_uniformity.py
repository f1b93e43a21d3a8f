"""Figure 6 D: the less training and test anchors have in common, the less is identified."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from aninfonce.extending import Isotropic, derive_seed, stream
from aninfonce.metrics import linear_r2
from aninfonce.processes import process, process_settings
from aninfonce.training import fit
from aninfonce_papers.engine import trained
from aninfonce_papers.engine.base import ANINFONCE, Cell, Metrics, Preset, Published, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

R2 = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.98, 0.60, 0.21)
ACCURACY = (0.50, 0.51, 0.51, 0.53, 0.57, 0.70, 0.93, 1.0, 1.0, 1.0)
_PRECISION = 0.005
_STEPS = {"smoke": 30, "laptop": 1_500, "paper": 100_000}


def cells(preset: Preset) -> list[Cell]:
    """Give the ten concentrations of the anchors, from uniform to far apart."""
    sizes = {**trained.SIZES[preset], "steps": _STEPS[preset]}
    return [
        Cell(
            f"κ={_kappa(number):.3g}",
            {"train": f"fig6/north{number}", "test": f"fig6/south{number}"},
            sizes,
            {
                "R²": Published(r2, precision=_PRECISION),
                "domain accuracy": Published(accuracy, precision=_PRECISION, goal="equal"),
            },
            trained.estimate(preset, sizes, 0.8),
        )
        for number, (r2, accuracy) in enumerate(zip(R2, ACCURACY, strict=True), start=1)
    ]


def run(cell: Cell, seed: int) -> Metrics:
    """Train AnInfoNCE on northern anchors; R² on southern ones, and how well the two can be told apart."""
    settings = cell.configuration
    paper = settings["recipe"] == "paper"
    north, south = (
        process(settings[part], seed, candidates=settings["candidates"]) for part in ("train", "test")
    )
    loss = {"name": "aninfonce", "options": {"positive_map": "softplus"} if paper else {"normalize": False}}
    # The recipe's steps onto the sphere take anchors for uniform, which these are not: it stays in Rᵈ.
    config = trained.training_config(settings, seed, space="sphere" if paper else "unbounded", loss=loss)
    fitted = fit(north, config)
    test = trained.fresh_pairs(south, settings, seed)
    assert test.z is not None
    others = north.sample(len(test), stream(seed, "other pole"))
    return {
        "R²": linear_r2(test.z, fitted.embed(test.x)).mean,
        "domain accuracy": _domain_accuracy(others.x, test.x, seed),
        "curves": trained.curves(fitted, "r2"),
    }


def _domain_accuracy(north: Tensor, south: Tensor, seed: int) -> float:
    """Train a small network on half of the observations; accuracy on the other half."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    half = len(north) // 2
    parts = [np.concatenate([north[rows], south[rows]]) for rows in (slice(half), slice(half, None))]
    labels = [np.arange(len(part)) < len(part) // 2 for part in parts]
    # scikit-learn takes 32 bits.
    own = derive_seed(seed, "domain classifier") % 2**32
    network = MLPClassifier((64, 64), early_stopping=True, max_iter=30, random_state=own)
    classifier = make_pipeline(StandardScaler(), network).fit(parts[0], labels[0])
    return float(classifier.score(parts[1], labels[1]))


def _kappa(number: int) -> float:
    marginal = process_settings(f"fig6/north{number}").marginal
    assert isinstance(marginal, Isotropic)
    return float(marginal.concentration)


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw both scores over κ, dotted where published."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.0, 3.6), layout="constrained")
    axes = figure.add_subplot()
    kappas = [_kappa(number) for number in range(1, len(R2) + 1)]
    for metric, known, colour in (("R²", R2, "C0"), ("domain accuracy", ACCURACY, "C1")):
        axes.semilogx(kappas, known, ":", color=colour, linewidth=1)
        places = [kappas[int(row["configuration"]["train"].removeprefix("fig6/north")) - 1] for row in rows]
        axes.semilogx(places, [row["metrics"][metric] for row in rows], "o", color=colour, label=metric)
    axes.plot([], [], ":", color="grey", label="published")
    axes.set(xlabel="κ of the anchors", ylim=(-0.05, 1.05))
    axes.legend()
    return {"uniformity": figure}


STUDY = Study(
    name="fig6-uniformity",
    title="Training and test anchors at opposite poles",
    paper=ANINFONCE,
    source="Figure 6 D, read off the figure; R² fitted and scored on different anchors of the test pole",
    cells=cells,
    run=run,
    plot=plot,
    remarks=(
        "Around κ = 10 the embedding is worse than the figure's, beyond it better. Training has far fewer"
        " steps on the laptop preset; whether that is why has not been tried.",
    ),
)
