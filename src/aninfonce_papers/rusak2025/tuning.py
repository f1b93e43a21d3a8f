"""Figure 10 B: an encoder trained on, with and without hard negatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from torch import nn

from aninfonce.extending import derive_seed
from aninfonce.losses import AnInfoNCE
from aninfonce.metrics import linear_r2
from aninfonce.processes import process
from aninfonce.training import TrainingConfig, fit
from aninfonce_papers.engine import trained
from aninfonce_papers.engine.base import Cell, Configuration, Metrics, Preset, Published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

BEFORE, AFTER = 0.852, 0.943
# Steps of the first and of the second training. The paper states neither.
_STEPS = {"smoke": (20, 10), "laptop": (700, 1_200), "paper": (100_000, 100_000)}
_PROCESSES = {"B: trained on": "fig4b/150", "B: hard negatives": "fig10"}


def cells(preset: Preset) -> list[Cell]:
    """Give further training with and without three hard negatives a sample."""
    first, second = _STEPS[preset]
    sizes = {**trained.WIDE_SIZES[preset], "steps": first, "tuning_steps": second}
    plain = trained.estimate(preset, {"steps": first + second}, 2.5)
    before = {"R² before": Published(BEFORE, precision=0.0005, goal="shown")}
    known = {"B: trained on": before, "B: hard negatives": {**before, "R²": Published(AFTER, precision=5e-4)}}
    return [
        Cell(name, {"process": pairs}, sizes, known[name], plain * (1.6 if "hard" in name else 1.0))
        for name, pairs in _PROCESSES.items()
    ]


def run(cell: Cell, seed: int) -> Metrics:
    """Train without hard negatives, then on with the pairs of the cell; R² before and after."""
    settings = cell.configuration
    options: dict[str, Any] = {"positive_map": "softplus"} if settings["recipe"] == "paper" else {}
    plain, pairs = (
        process(name, seed, candidates=settings["candidates"])
        for name in (_PROCESSES["B: trained on"], settings["process"])
    )
    first = fit(plain, _config(settings, seed, options))
    assert first.concentration is not None
    test = trained.fresh_pairs(plain, settings, seed)
    assert test.z is not None
    before = linear_r2(test.z, first.embed(test.x)).mean
    # The last linear layer stays the last, and the inputs stay whitened: it is the same network.
    encoder = nn.Sequential(first.encoder.inputs, first.encoder.body)
    loss = AnInfoNCE(pairs.dim, initial=first.concentration, normalize=False, **options)
    again = {**settings, "steps": settings["tuning_steps"], "whiten": False}
    # Another seed, or it would see the pairs of the first training once more.
    later = derive_seed(seed, "trained on") % 2**31
    second = fit(pairs, _config(again, later, options), encoder=encoder, loss=loss)
    return {
        "R² before": before,
        "R²": linear_r2(test.z, second.embed(test.x)).mean,
        "curves": trained.curves(second, "r2"),
    }


def draw(rows: Sequence[Row]) -> Figure:
    """Draw R² while both kinds of further training run."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.0, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for number, name in enumerate(_PROCESSES):
        for row in rows:
            if row["cell"] == name:
                metrics = row["metrics"]
                steps, r2 = [0, *metrics["curves"]["steps"]], [metrics["R² before"], *metrics["curves"]["r2"]]
                axes.plot(steps, r2, color=f"C{number}", linewidth=1)
        axes.plot([], [], color=f"C{number}", label=name.removeprefix("B: "))
    for value in (BEFORE, AFTER):
        axes.axhline(value, color="grey", linestyle=":", linewidth=1)
    axes.set(xlabel="further steps", ylabel="R²", title="B (dotted: published, before and after)")
    axes.legend()
    return figure


def _config(settings: Configuration, seed: int, options: dict[str, Any]) -> TrainingConfig:
    """Give the settings of one training; "fast" stays in Rᵈ, without the dip of a step onto the sphere."""
    space = "sphere" if settings["recipe"] == "paper" else "unbounded"
    loss = {"name": "aninfonce", "options": options}
    return trained.training_config(settings, seed, space=space, loss=loss)
