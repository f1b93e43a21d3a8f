"""Classes: whether given labels can be read off the embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aninfonce.diagnostics.finding import Finding
from aninfonce.diagnostics.intervals import proportion
from aninfonce.diagnostics.sample import Sample
from aninfonce.metrics import knn_accuracy, linear_probe_accuracy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def classes(sample: Sample) -> Finding | None:
    """Accuracy of logistic regression and of nearest neighbours, fitted on one half and read on the other.

    Args:
        sample: embedded pairs with labels.

    Returns:
        The finding, None without labels; a concern if the linear probe is not surely better than chance.

    """
    if sample.labels is None:
        return None
    half = len(sample) // 2
    split = sample.z[:half], sample.labels[:half], sample.z[half:], sample.labels[half:]
    linear, neighbours = linear_probe_accuracy(*split), knn_accuracy(*split)
    trials = len(sample) - half
    value, interval = proportion(round(linear.mean * trials), trials)
    unread = interval[0] <= linear.chance
    advice = (
        "The classes cannot be read off the embedding: what tells them apart was lost, or never there."
        if unread
        else "The classes can be read off the embedding."
    )

    def draw(axis: Axes) -> None:
        names = sorted(linear.per_class)
        axis.bar(names, [linear.per_class[name] for name in names], color="#22558f")
        axis.axhline(linear.chance, color="black", linewidth=1, linestyle=":")
        axis.set(xlabel="class", ylabel="accuracy", ylim=(0, 1.02), title="Linear probe (dotted: chance)")

    return Finding(
        name="classes",
        title="Classes",
        measure=f"accuracy of a linear probe (chance {100 * linear.chance:.0f} %)",
        value=value,
        interval=interval,
        concern=bool(unread),
        advice=advice,
        details={"neighbours": neighbours.mean, "chance": linear.chance},
        draw=draw,
    )
