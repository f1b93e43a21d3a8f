"""Readout per augmentation: whether the embedding still knows that it was applied."""

from __future__ import annotations

from typing import Any

import numpy as np

from aninfonce.diagnostics.finding import Finding, Status, cannot_tell, gravest, judge, not_judged, titled
from aninfonce.diagnostics.intervals import share_lost
from aninfonce.diagnostics.probe import probe_two
from aninfonce.diagnostics.sample import Sample
from aninfonce.plots._axes import ACCENT, LEVEL, MAIN, Axes

# Share of what the data show that may be lost.
_LOST = 0.5


@titled("Readout per augmentation", needs="augmented")
def readout(sample: Sample) -> Finding:
    """Share of what the data show of each augmentation that the embedding lost.

    Two probes tell whether it was applied, one from the data and one from the embedding, on the same rows. By
    what share of its accuracy above chance (50 %) does the second fall short of the first?

    The finding is about the augmentation of which most is lost, and a concern if that is surely more than
    half. An augmentation that does not show in the data is not judged.
    """
    assert sample.augmented is not None
    assert sample.changed is not None
    rows: dict[str, dict[str, Any]] = {}
    for name, changed in sample.augmented.items():
        kept = probe_two(sample.z, changed, sample.rng("readout", name))
        before = probe_two(_flat(sample.x), _flat(sample.changed[name]), sample.rng("readout", name))
        value, (low, high) = kept.accuracy
        share, interval = share_lost(before.right, kept.right)
        shows = np.isfinite(share)
        status = judge(interval, _LOST, bad="above") if shows else "not judged"
        rows[name] = {
            "accuracy": value,
            "low": low,
            "high": high,
            "in_x": before.accuracy[0],
            "share_lost": share if shows else None,
            "share_interval": list(interval) if shows else None,
            "status": status,
            "lost": status == "concern",
        }

    def draw(axis: Axes) -> None:
        names = list(rows)
        place = np.arange(len(names))
        values = np.array([rows[name]["accuracy"] for name in names])
        ends = np.array([[rows[name]["low"], rows[name]["high"]] for name in names])
        axis.barh(place, values, xerr=np.abs(ends.T - values), color=MAIN, capsize=3)
        axis.plot([rows[name]["in_x"] for name in names], place, "d", color=ACCENT, label="from the data")
        axis.axvline(0.5, **LEVEL)
        axis.set_yticks(place, names)
        axis.set(xlabel="accuracy (dotted: chance)", xlim=(0.4, 1.02), title="Was it applied?")
        axis.legend(frameon=False)

    shown = [name for name, row in rows.items() if row["share_lost"] is not None]
    if not shown:
        why = f"the data do not show whether {', '.join(rows)} was applied, so that nothing could be lost"
        return not_judged(why, details=rows, draw=draw)
    status = gravest(*(rows[name]["status"] for name in shown))
    # The augmentation with the largest estimate need not be the one that is surely lost.
    of_status = [name for name in shown if rows[name]["status"] == status]
    worst = max(of_status, key=lambda name: rows[name]["share_lost"])
    return Finding(
        measure=f"of the data's accuracy for {worst} above chance is lost",
        value=rows[worst]["share_lost"],
        interval=tuple(rows[worst]["share_interval"]),
        status=status,
        advice=_advice(sample, status, ", ".join(of_status)),
        details=rows,
        draw=draw,
    )


def _advice(sample: Sample, status: Status, names: str) -> str:
    if status == "concern":
        return (
            f"The embedding lost most of what the data show of whether {names} was applied: if a later task"
            f" depends on it, augment less there, or {sample.run.keep_more}."
        )
    if status == "undetermined":
        return cannot_tell(f"most of what the data show of {names} was lost")
    return "The embedding keeps at least half of what the data show of every augmentation."


def _flat(x: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    array = np.asarray(x, dtype=np.float64)
    return array.reshape(len(array), -1)
