"""Readout per augmentation: whether the embedding still knows that it was applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aninfonce.diagnostics.finding import Finding
from aninfonce.diagnostics.intervals import proportion
from aninfonce.diagnostics.probe import probe_two
from aninfonce.diagnostics.sample import Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def readout(sample: Sample) -> Finding | None:
    """Accuracy of reading off the embedding whether each augmentation was applied; chance is 50 %.

    Args:
        sample: embedded pairs with augmentations.

    Returns:
        The finding, about the augmentation that is read worst, and None without augmentations; a concern if
        some augmentation cannot be read at all, though it can be in the observations.

    """
    if not sample.augmented:
        return None
    rows: dict[str, dict[str, float]] = {}
    for name, changed in sample.augmented.items():
        kept = probe_two(sample.z, changed, seed=sample.seed)
        before = probe_two(_flat(sample.x), _flat(sample.changed[name]), seed=sample.seed)
        value, (low, high) = proportion(kept.hits, kept.trials)
        observed, (observed_low, _) = proportion(before.hits, before.trials)
        unread = float(low <= 0.5 < observed_low)
        rows[name] = {"accuracy": value, "low": low, "high": high, "in_x": observed, "lost": unread}
    worst = min(rows, key=lambda name: rows[name]["accuracy"])
    lost = [name for name, row in rows.items() if row["lost"]]
    advice = (
        f"The embedding no longer tells whether {', '.join(lost)} was applied: if a later task depends on it,"
        " augment less there, or keep it with AnInfoNCE."
        if lost
        else "Every augmentation that shows in the data can still be read off the embedding."
    )

    def draw(axis: Axes) -> None:
        names = list(rows)
        place = np.arange(len(names))
        values = np.array([rows[name]["accuracy"] for name in names])
        ends = np.array([[rows[name]["low"], rows[name]["high"]] for name in names])
        axis.barh(place, values, xerr=np.abs(ends.T - values), color="#22558f", capsize=3)
        axis.plot([rows[name]["in_x"] for name in names], place, "d", color="#c4561c", label="from the data")
        axis.axvline(0.5, color="black", linewidth=1, linestyle=":")
        axis.set_yticks(place, names)
        axis.set(xlabel="accuracy (dotted: chance)", xlim=(0.4, 1.02), title="Was it applied?")
        axis.legend(frameon=False)

    return Finding(
        name="readout",
        title="Readout per augmentation",
        measure=f"accuracy for {worst} (chance 50 %)",
        value=rows[worst]["accuracy"],
        interval=(rows[worst]["low"], rows[worst]["high"]),
        concern=bool(lost),
        advice=advice,
        details=rows,
        draw=draw,
    )


def _flat(x: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    array = np.asarray(x, dtype=np.float64)
    return array.reshape(len(array), -1)
