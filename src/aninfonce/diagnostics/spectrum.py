"""Content and style: how strongly each direction varies within pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aninfonce.diagnostics.finding import Finding
from aninfonce.diagnostics.sample import Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Directions whose Λ differ by more than this factor, for certain, are not of one kind.
_RATIO = 1.5
_TINY = 1e-3


def spectrum(sample: Sample) -> Finding | None:
    """Λ̂ on the frozen embedding, from the direction that varies most to the one that varies least.

    Args:
        sample: embedded pairs.

    Returns:
        The finding, None for a constant embedding; a concern if the directions surely differ in Λ.

    """
    frame = sample.frame
    if frame is None:
        return None
    fit = frame.concentration
    order = np.argsort(fit.values)
    values, (low, high) = fit.values[order], fit.interval[order].T
    ratio = float(values[-1] / max(values[0], _TINY))
    interval = (float(low[-1] / max(high[0], _TINY)), float(high[-1] / max(low[0], _TINY)))
    unequal = interval[0] > _RATIO
    style = int((high < low[-1] / _RATIO).sum())
    advice = (
        f"{style} of {len(values)} directions vary more within pairs than the steadiest one: a similarity"
        " that treats all alike, such as the cosine, tends to lose them, so train with AnInfoNCE."
        if unequal
        else "All directions vary about equally within pairs: an isotropic similarity fits."
    )

    def draw(axis: Axes) -> None:
        place = np.arange(1, len(values) + 1)
        axis.errorbar(place, values, [values - low, high - values], fmt="o", color="#22558f", capsize=3)
        axis.set(xlabel="direction, style to content", ylabel=r"$\hat\Lambda$", yscale="log")
        axis.set_title("Content–style spectrum")

    return Finding(
        name="spectrum",
        title="Content and style",
        measure="largest Λ̂ over smallest",
        value=ratio,
        interval=interval,
        concern=unequal,
        advice=advice,
        details={
            "concentration": values.tolist(),
            "interval": fit.interval[order].tolist(),
            "variance_kept": frame.kept,
        },
        draw=draw,
    )
