"""Identifiability: how much of the known latents the embedding holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aninfonce.diagnostics.finding import Finding
from aninfonce.diagnostics.intervals import jackknife
from aninfonce.diagnostics.sample import Sample
from aninfonce.metrics import linear_r2, mean_correlation_coefficient

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOST = 0.9


def identifiability(sample: Sample) -> Finding | None:
    """R² of a linear readout of each latent, on held-out rows, and the mean correlation coefficient.

    Args:
        sample: embedded pairs with latents.

    Returns:
        The finding, None without latents; a concern if some latent has an R² surely below 0.9.

    """
    latents, z = sample.latents, sample.z
    if latents is None:
        return None
    scores = linear_r2(latents, z)
    per_latent = np.array(scores.per_dimension)
    worst = int(per_latent.argmin())
    value, interval = jackknife(lambda rows: linear_r2(latents[rows], z[rows]).mean, len(z))
    _, (_, high) = jackknife(lambda rows: linear_r2(latents[rows], z[rows]).per_dimension[worst], len(z))
    lost = np.flatnonzero(per_latent < _LOST) if high < _LOST else np.array([], dtype=int)
    advice = (
        f"Latents {lost.tolist()} are not, or not linearly, in the embedding: see which vary most within"
        " pairs, and train with AnInfoNCE."
        if len(lost)
        else "A linear readout recovers every latent."
    )

    def draw(axis: Axes) -> None:
        axis.bar(np.arange(len(per_latent)), per_latent.clip(min=0), color="#22558f")
        axis.axhline(1.0, color="black", linewidth=1, linestyle=":")
        axis.set(xlabel="latent", ylabel="R²", ylim=(0, 1.05), title="Linear readout of each latent")

    return Finding(
        name="identifiability",
        title="Identifiability",
        measure="mean R² of the latents, held out",
        value=value,
        interval=interval,
        concern=bool(len(lost)),
        advice=advice,
        details={
            "r2": per_latent.tolist(),
            "mean_correlation_coefficient": mean_correlation_coefficient(latents, z).mean,
        },
        draw=draw,
    )
