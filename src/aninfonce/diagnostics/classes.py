"""Classes: whether given labels can be read off the embedding."""

from __future__ import annotations

import numpy as np

from aninfonce.diagnostics.finding import Finding, Status, titled
from aninfonce.diagnostics.intervals import proportion
from aninfonce.diagnostics.sample import Sample
from aninfonce.metrics import knn_accuracy, linear_probe_accuracy
from aninfonce.plots._axes import LEVEL, MAIN, Axes

# Share of what is above chance that still counts as nothing.
_NOTHING = 0.2


@titled("Classes", needs="labels")
def classes(sample: Sample) -> Finding:
    """Accuracy of logistic regression and of nearest neighbours, fitted on one half and scored on the other.

    A concern if the linear probe is not surely better than chance, and surely not much better.
    """
    assert sample.labels is not None
    half = len(sample) // 2
    split = sample.z[:half], sample.labels[:half], sample.z[half:], sample.labels[half:]
    linear, neighbours = linear_probe_accuracy(*split), knn_accuracy(*split)
    trials = len(sample) - half
    value, interval = proportion(round(linear.mean * trials), trials)
    # The commonest class of the rows that are answered for: that of the others may be rarer here, and then
    # guessing passes for knowing.
    chance = max(linear.chance, float(np.unique(sample.labels[half:], return_counts=True)[1].max() / trials))
    status: Status
    if interval[0] > chance:
        status, advice = "fine", "The classes can be read off the embedding better than by guessing."
    elif interval[1] <= chance + _NOTHING * (1.0 - chance):
        status = "concern"
        advice = (
            "The classes cannot be read off the embedding better than by guessing: what tells them apart was"
            " lost, or never there."
        )
    else:
        status = "undetermined"
        advice = "Whether the classes can be read off the embedding cannot be told from so few rows."

    def draw(axis: Axes) -> None:
        names = sorted(linear.per_class)
        axis.bar(names, [linear.per_class[name] for name in names], color=MAIN)
        axis.axhline(chance, **LEVEL)
        axis.set(xlabel="class", ylabel="accuracy", ylim=(0, 1.02), title="Linear probe (dotted: chance)")

    return Finding(
        measure=f"accuracy of a linear probe (chance {100 * chance:.0f} %)",
        value=value,
        interval=interval,
        status=status,
        advice=advice,
        details={"neighbours": neighbours.mean, "chance": chance},
        draw=draw,
    )
