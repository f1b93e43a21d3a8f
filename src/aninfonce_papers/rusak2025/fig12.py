"""Figure 12: AnInfoNCE beside TriCL, on equal and on unequal Λ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch import nn

from aninfonce.losses import TriCL
from aninfonce.metrics import linear_r2
from aninfonce_papers.engine import Experiment, Loss, Metrics, Preset, Published, Row, Study
from aninfonce_papers.engine.drawing import new_figure, traces
from aninfonce_papers.engine.on_process import WIDE_SIZES, Outcome, ProcessScore, curves, on_process
from aninfonce_papers.engine.published import ANINFONCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_READING = 0.003
# Of TriCL the figure shows a peak and a fall; of AnInfoNCE where it ends.
PUBLISHED = {
    "100": {"TriCL": {"peak R²": 0.991, "end R²": 0.896}, "AnInfoNCE": {"end R²": 0.91}},
    "15-250": {"TriCL": {"peak R²": 0.663, "end R²": 0.525}, "AnInfoNCE": {"end R²": 0.92}},
}


class TriCLLoss(Loss):
    """TriCL, which the library's configurations have no name for."""

    name: str = "custom"

    def module(self, dim: int, seed: int) -> nn.Module:
        """Build it."""
        return TriCL(dim)


class PeakAndEnd(ProcessScore):
    """R² at its best and at the end."""

    def measure(self, outcome: Outcome) -> Metrics:
        """Score one training."""
        score = linear_r2(outcome.z, outcome.embedding, partitions=outcome.process.partitions())
        traced = curves(outcome.fitted, "r2")
        seen = [round(float(row["r2"]), 5) for row in outcome.fitted.history if "r2" in row]
        parts = {f"end R², {name}": value for name, value in score.per_partition.items() if name != "all"}
        return {"peak R²": max(*seen, score.mean), "end R²": score.mean, **parts, "curves": traced}


def experiments(preset: Preset) -> list[Experiment]:
    """Give both losses for Λ = 100, and for Λ = 15 and 250."""
    sizes = WIDE_SIZES[preset]
    score = PeakAndEnd(test_pairs=sizes.test_pairs)
    grid = []
    for value, losses in PUBLISHED.items():
        for name, known in losses.items():
            tricl = name == "TriCL"
            grid.append(
                on_process(
                    _name(name, value),
                    f"fig12/{value}",
                    sizes,
                    score,
                    # TriCL only serves as a comparison: doing better than the paper's is no merit of ours.
                    {
                        metric: Published(r2, precision=_READING, goal="shown" if tricl else "higher")
                        for metric, r2 in known.items()
                    },
                    loss=TriCLLoss() if tricl else None,
                    # Not on the sphere: its decorrelation wants a second moment of I.
                    space="unbounded" if tricl else "sphere",
                    slower=5.0 if tricl else 3.0,
                )
            )
    return grid


def _name(loss: str, value: str) -> str:
    return f"{loss} Λ={value.replace('-', ' and ')}"


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² over the steps, a panel for each Λ, dotted where published curves end."""
    figure = new_figure(8.0, 3.4)
    for axes, (value, losses) in zip(figure.subplots(1, 2), PUBLISHED.items(), strict=True):
        for number, (loss, known) in enumerate(losses.items()):
            traces(axes, rows, _name(loss, value), color=f"C{number}")
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
    experiments=experiments,
    plot=plot,
)
