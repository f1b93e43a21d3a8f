"""Domain shift: whether augmented data can be told from plain data."""

from __future__ import annotations

import numpy as np

from aninfonce.diagnostics.finding import Finding, cannot_tell, judge, titled
from aninfonce.diagnostics.probe import probe_two
from aninfonce.diagnostics.sample import Sample
from aninfonce.plots._axes import ACCENT, MAIN, Axes, whole_ticks

_SHIFTED = 0.55


@titled("Domain shift")
def shift(sample: Sample) -> Finding:
    """Accuracy of a classifier that tells embeddings of observations from those of their positives.

    A concern if the classifier is surely better than 55 %.

    References:
        Lopez-Paz and Oquab, "Revisiting classifier two-sample tests" (2017).

    """
    result = probe_two(*sample.scaled, sample.rng("shift"))
    value, interval = result.accuracy
    status = judge(interval, _SHIFTED, bad="above")
    advice = {
        "concern": "Augmented data look different from plain data: an encoder that is trained on the one and"
        " used on the other meets inputs it does not know, so augment less, or keep plain views among the"
        " pairs.",
        "undetermined": cannot_tell("augmented data look different from plain data"),
        "fine": "Augmented and plain data are distributed about alike.",
    }[status]

    def draw(axis: Axes) -> None:
        bins = np.linspace(0, 1, 41).tolist()
        axis.hist(result.scores[~result.second], bins, alpha=0.7, label="plain", color=MAIN)
        axis.hist(result.scores[result.second], bins, alpha=0.6, label="augmented", color=ACCENT)
        axis.set(xlabel="predicted probability of “augmented”", ylabel="held-out rows")
        whole_ticks(axis.yaxis)
        axis.legend(frameon=False, loc="upper right")

    return Finding(
        measure="accuracy of telling augmented from plain (chance 50 %)",
        value=value,
        interval=interval,
        status=status,
        advice=advice,
        draw=draw,
    )
