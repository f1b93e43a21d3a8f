"""Augmentation overlap: whether the positives of different observations are ever confused."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from aninfonce.diagnostics.finding import Finding, cannot_tell, gravest, judge, titled
from aninfonce.diagnostics.intervals import jackknife, proportion
from aninfonce.diagnostics.sample import Sample
from aninfonce.plots._axes import ACCENT, MAIN, Axes

_NEGATIVES = 199
# If fewer observations than the first are ever confused, pairs never meet. If a single random negative is
# nearer than the positive more often than the second, pairs share almost nothing; guessing is 0.5.
_TOO_LITTLE, _TOO_MUCH = 0.02, 0.4


@titled("Augmentation overlap")
def overlap(sample: Sample) -> Finding:
    """Share of observations that have a negative nearer than their positive, among 199.

    A concern if pairs never meet, or if they share almost nothing.
    """
    z, z_pos = sample.scaled
    block = _NEGATIVES + 1
    positive, nearest, negatives, nearer = [], [], [], []
    for start in range(0, len(z) - block + 1, block):
        a, p = z[start : start + block], z_pos[start : start + block]
        distance = cdist(a, a)
        negatives.append(distance[np.triu_indices(block, 1)])
        np.fill_diagonal(distance, np.inf)
        own = np.linalg.norm(a - p, axis=1)
        positive.append(own)
        nearest.append(distance.min(axis=1))
        nearer.append((distance < own[:, None]).sum(axis=1) / _NEGATIVES)
    pairs, closest, beaten = (np.concatenate(parts) for parts in (positive, nearest, nearer))
    value, interval = proportion(int((closest < pairs).sum()), len(pairs))
    # How often a single random negative is nearer than the positive: half the time if pairs are broken.
    error, error_interval = jackknife(lambda rows: float(beaten[rows].mean()), len(beaten))
    never = judge(interval, _TOO_LITTLE, bad="below")
    nothing = judge(error_interval, _TOO_MUCH, bad="above")
    if never == "concern":
        advice = (
            "Positives of different observations never meet, so that nothing ties the observations to each"
            " other: use stronger augmentations, or a longer lag."
        )
    elif nothing == "concern":
        advice = (
            "A positive is hardly nearer than any other observation: see whether the pairs are paired right."
        )
    elif never == "undetermined":
        advice = cannot_tell("positives of different observations ever meet")
    elif nothing == "undetermined":
        advice = cannot_tell("a positive is nearer than other observations")
    else:
        advice = "Pairs are told apart, and still overlap with their neighbours."

    def draw(axis: Axes) -> None:
        other = np.concatenate(negatives)
        bins = np.linspace(0, float(np.quantile(other, 0.999)) or 1.0, 60).tolist()
        axis.hist(pairs, bins, density=True, alpha=0.7, label="pairs", color=MAIN)
        axis.hist(other, bins, density=True, alpha=0.6, label="negatives", color=ACCENT)
        axis.set(xlabel="distance", ylabel="density", title="Distances within pairs and to negatives")
        # A fixed place, with room above the bars: matplotlib can take seconds to search for the best one.
        axis.margins(y=0.25)
        axis.legend(frameon=False, loc="upper right")

    return Finding(
        measure=f"share with one of {_NEGATIVES} negatives nearer than the positive",
        value=value,
        interval=interval,
        status=gravest(never, nothing),
        advice=advice,
        details={"one_negative_nearer": error, "one_negative_nearer_interval": list(error_interval)},
        draw=draw,
    )
