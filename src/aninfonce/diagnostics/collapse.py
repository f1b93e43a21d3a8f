"""Collapse: how many dimensions the embedding uses."""

from __future__ import annotations

import numpy as np

from aninfonce.diagnostics.finding import Finding, Status, gravest, judge, titled
from aninfonce.diagnostics.sample import Sample
from aninfonce.plots._axes import MAIN, Axes, whole_ticks

# A column whose spread is below this share of the largest is dead.
_DEAD = 1e-3


@titled("Collapse")
def collapse(sample: Sample) -> Finding:
    """Effective rank of the centred embedding (RankMe), its spectrum, and columns that do not vary.

    A concern if the embedding is constant, if it uses less than half of its dimensions beyond the first, or
    if a column is dead.
    """
    z, dim = sample.z, sample.dim
    value, interval = sample.rank
    spread = z.std(axis=0)
    dead = np.arange(dim) if sample.constant else np.flatnonzero(spread <= _DEAD * spread.max())
    spectrum = np.linalg.svd(z - z.mean(axis=0), compute_uv=False) / np.sqrt(len(z))
    of_rank = few_dimensions(sample)
    uses = f"The embedding uses about {round(value)} of its {dim} dimensions"
    if sample.constant:
        advice = (
            "The embedding is constant: see that the two of a pair share something that other pairs do not,"
            " check the loss and how embeddings are normalised, and lower the learning rates."
        )
    elif of_rank == "concern":
        advice = (
            f"{uses}: if the data have more factors they are lost, so lower the learning rate or the"
            " temperature, or weaken the augmentations, and otherwise ask for fewer columns."
        )
    elif len(dead):
        advice = f"Columns {dead.tolist()} do not vary: drop them, or ask for fewer dimensions."
    elif of_rank == "undetermined":
        advice = f"{uses}, and whether that is more than half cannot be told from these pairs: look at more."
    else:
        advice = f"{uses}."

    def draw(axis: Axes) -> None:
        axis.plot(np.arange(1, len(spectrum) + 1), spectrum, "o-", color=MAIN, markersize=3)
        axis.set(xlabel="direction", ylabel="standard deviation", title="Spectrum of the embedding")
        axis.set_ylim(bottom=0)
        whole_ticks(axis.xaxis, np.arange(1, len(spectrum) + 1))

    return Finding(
        measure=f"effective dimensions of {dim}",
        value=value,
        interval=interval,
        status=gravest(of_rank, "concern" if len(dead) else "fine"),
        advice=advice,
        details={"dead_columns": dead.tolist(), "spectrum": spectrum.tolist()},
        draw=draw,
    )


def few_dimensions(sample: Sample) -> Status:
    """Judge the effective rank, which is between 1 and d, against the middle."""
    if sample.dim == 1 and not sample.constant:
        return "fine"
    return judge(sample.rank[1], 0.5 * (1 + sample.dim), bad="below")
