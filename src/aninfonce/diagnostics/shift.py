"""Domain shift: whether augmented data can be told from plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aninfonce.diagnostics.finding import Finding
from aninfonce.diagnostics.intervals import proportion
from aninfonce.diagnostics.probe import probe_two
from aninfonce.diagnostics.sample import Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHIFTED = 0.55


def shift(sample: Sample) -> Finding:
    """Accuracy of a classifier that tells embeddings of observations from those of their positives.

    Args:
        sample: embedded pairs.

    Returns:
        The finding; a concern if the classifier is surely better than 55 %.

    References:
        Lopez-Paz and Oquab, "Revisiting classifier two-sample tests" (2017).

    """
    result = probe_two(*sample.scaled, seed=sample.seed)
    value, interval = proportion(result.hits, result.trials)
    shifted = interval[0] > _SHIFTED
    advice = (
        "Augmented data look different from plain data: an encoder that is trained on the one and used on the"
        " other meets inputs it does not know, so augment less, or keep plain views among the pairs."
        if shifted
        else "Augmented and plain data are distributed alike."
    )

    def draw(axis: Axes) -> None:
        bins = np.linspace(0, 1, 41).tolist()
        axis.hist(result.scores[~result.second], bins, alpha=0.7, label="plain", color="#22558f")
        axis.hist(result.scores[result.second], bins, alpha=0.6, label="augmented", color="#c4561c")
        axis.set(xlabel="predicted probability of “augmented”", ylabel="held-out rows")
        axis.legend(frameon=False)

    return Finding(
        name="shift",
        title="Domain shift",
        measure="accuracy of telling augmented from plain (chance 50 %)",
        value=value,
        interval=interval,
        concern=shifted,
        advice=advice,
        draw=draw,
    )
