"""Identifiability: how much of the known latents the embedding holds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aninfonce.diagnostics.finding import Finding, gravest, judge, titled
from aninfonce.diagnostics.intervals import jackknife_each
from aninfonce.diagnostics.sample import Sample
from aninfonce.metrics import linear_r2, mean_correlation_coefficient
from aninfonce.plots._axes import LEVEL, MAIN, Axes, whole_ticks

_LOST = 0.9


@titled("Identifiability", needs="latents")
def identifiability(sample: Sample) -> Finding:
    """R² of a linear readout of each latent, on held-out rows, and the mean correlation coefficient.

    A concern if some latent has an R² surely below 0.9.
    """
    latents, z = sample.latents, sample.z
    assert latents is not None

    def scores(rows: npt.NDArray[np.intp]) -> list[float]:
        found = linear_r2(latents[rows], z[rows])
        return [found.mean, *found.per_dimension]

    values, intervals = jackknife_each(scores, len(z))
    per_latent = values[1:]
    verdicts = [judge((low, high), _LOST, bad="below") for low, high in intervals[1:].tolist()]
    status = gravest(*verdicts)
    named = ", ".join(str(index) for index, verdict in enumerate(verdicts) if verdict == status)
    if status == "concern":
        advice = (
            f"Latents [{named}] are not, or not linearly, in the embedding: see which vary most within pairs,"
            f" and {sample.run.keep_more}."
        )
    elif status == "undetermined":
        advice = f"Whether a linear readout recovers latents [{named}] cannot be told from these pairs."
    else:
        advice = "A linear readout recovers every latent."

    def draw(axis: Axes) -> None:
        axis.bar(np.arange(len(per_latent)), per_latent.clip(min=0), color=MAIN)
        axis.axhline(1.0, **LEVEL)
        axis.set(xlabel="latent", ylabel="R²", ylim=(0, 1.05), title="Linear readout of each latent")
        whole_ticks(axis.xaxis, np.arange(len(per_latent)))

    low, high = intervals[0].tolist()
    return Finding(
        measure="mean R² of the latents, held out",
        value=float(values[0]),
        interval=(low, high),
        status=status,
        advice=advice,
        details={
            "r2": per_latent.tolist(),
            "r2_interval": intervals[1:].tolist(),
            "mean_correlation_coefficient": mean_correlation_coefficient(latents, z).mean,
        },
        draw=draw,
    )
