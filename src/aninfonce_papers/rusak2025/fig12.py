"""Figure 12: AnInfoNCE beside TriCL, on equal and on unequal Λ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aninfonce.losses import TriCL
from aninfonce.metrics import linear_r2
from aninfonce.processes import process
from aninfonce.training import fit
from aninfonce_papers.engine import trained
from aninfonce_papers.engine.base import ANINFONCE, Cell, Metrics, Preset, Published, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

_READING = 0.003
# Of TriCL the figure shows a peak and a fall; of AnInfoNCE where it ends.
PUBLISHED = {
    "100": {"TriCL": {"peak R²": 0.991, "end R²": 0.896}, "AnInfoNCE": {"end R²": 0.91}},
    "15-250": {"TriCL": {"peak R²": 0.663, "end R²": 0.525}, "AnInfoNCE": {"end R²": 0.92}},
}


def cells(preset: Preset) -> list[Cell]:
    """Give both losses for Λ = 100, and for Λ = 15 and 250."""
    sizes = trained.WIDE_SIZES[preset]
    return [
        Cell(
            f"{loss} Λ={value.replace('-', ' and ')}",
            {"process": f"fig12/{value}", "loss": loss},
            sizes,
            # TriCL is there to compare with: doing better or worse than the paper's is no merit of ours.
            {
                metric: Published(r2, precision=_READING, goal="shown" if loss == "TriCL" else "higher")
                for metric, r2 in known.items()
            },
            trained.estimate(preset, sizes, 5.0 if loss == "TriCL" else 3.0),
        )
        for value, losses in PUBLISHED.items()
        for loss, known in losses.items()
    ]


def run(cell: Cell, seed: int) -> Metrics:
    """Train one loss; R² at its best and at the end."""
    settings = cell.configuration
    source = process(settings["process"], seed, candidates=settings["candidates"])
    if settings["loss"] == "TriCL":
        # Not on the sphere: its decorrelation wants a second moment of I.
        config = trained.training_config(settings, seed, space="unbounded", loss={"name": "custom"})
        fitted = fit(source, config, loss=TriCL(source.dim))
    else:
        options = {"positive_map": "softplus"} if settings["recipe"] == "paper" else {}
        loss = {"name": "aninfonce", "options": options}
        fitted = fit(source, trained.training_config(settings, seed, space="sphere", loss=loss))
    test = trained.fresh_pairs(source, settings, seed)
    assert test.z is not None
    score = linear_r2(test.z, fitted.embed(test.x), partitions=source.partitions())
    curves = trained.curves(fitted, "r2")
    parts = {f"end R², {name}": value for name, value in score.per_partition.items() if name != "all"}
    return {"peak R²": max(*curves["r2"], score.mean), "end R²": score.mean, **parts, "curves": curves}


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² over the steps, a panel for each Λ, dotted where published curves end."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    for axes, (value, losses) in zip(figure.subplots(1, 2), PUBLISHED.items(), strict=True):
        for number, (loss, known) in enumerate(losses.items()):
            for row in rows:
                settings = row["configuration"]
                if (settings["process"], settings["loss"]) == (f"fig12/{value}", loss):
                    traced = row["metrics"]["curves"]
                    axes.plot(traced["steps"], traced["r2"], color=f"C{number}", linewidth=1)
            axes.plot([], [], color=f"C{number}", label=loss)
            axes.axhline(known["end R²"], color=f"C{number}", linestyle=":", linewidth=1)
        axes.set(xlabel="step", ylabel="R²", title=f"Λ = {value.replace('-', ' and ')}", ylim=(0.0, 1.05))
        axes.legend(fontsize=8)
    return {"curves": figure}


STUDY = Study(
    name="fig12",
    title="AnInfoNCE beside TriCL",
    paper=ANINFONCE,
    source="Figure 12, read off the figure; ours on held-out pairs",
    cells=cells,
    run=run,
    plot=plot,
)
