"""Collapse: how many dimensions the embedding uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aninfonce.diagnostics.finding import Finding
from aninfonce.diagnostics.intervals import jackknife
from aninfonce.diagnostics.sample import Sample
from aninfonce.metrics import rankme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Effective rank below this share of the columns is a collapse.
_SHARE = 0.5
# A column whose spread is below this share of the largest is dead.
_DEAD = 1e-3


def collapse(sample: Sample) -> Finding:
    """Effective rank of the centred embedding (RankMe), its spectrum, and columns that do not vary.

    Args:
        sample: embedded pairs.

    Returns:
        The finding; a concern if less than half of the dimensions are used, or a column is dead.

    """
    z = sample.z
    value, interval = jackknife(lambda rows: rankme(z[rows] - z[rows].mean(axis=0)), len(z))
    spread = z.std(axis=0)
    dead = np.flatnonzero(spread <= _DEAD * spread.max()) if spread.max() > 0 else np.arange(sample.dim)
    spectrum = np.linalg.svd(z - z.mean(axis=0), compute_uv=False) / np.sqrt(len(z))
    collapsed = interval[1] < _SHARE * sample.dim
    if collapsed:
        advice = (
            f"The embedding uses about {round(value)} of its {sample.dim} dimensions: what the others could"
            " hold is lost, so lower the learning rate or the temperature, or weaken the augmentations."
        )
    elif len(dead):
        advice = f"Columns {dead.tolist()} do not vary: drop them, or ask for fewer dimensions."
    else:
        advice = "The embedding uses its dimensions."

    def draw(axis: Axes) -> None:
        axis.plot(np.arange(1, len(spectrum) + 1), spectrum, "o-", color="#22558f", markersize=3)
        axis.set(xlabel="direction", ylabel="standard deviation", title="Spectrum of the embedding")
        axis.set_ylim(bottom=0)

    return Finding(
        name="collapse",
        title="Collapse",
        measure=f"effective dimensions of {sample.dim}",
        value=value,
        interval=interval,
        concern=bool(collapsed or len(dead)),
        advice=advice,
        details={"dead_columns": dead.tolist(), "spectrum": spectrum.tolist()},
        draw=draw,
    )
