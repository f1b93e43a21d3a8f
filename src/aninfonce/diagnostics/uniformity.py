"""Uniformity: whether the embeddings cover the sphere evenly."""

from __future__ import annotations

import numpy as np
from scipy import stats

from aninfonce.diagnostics.collapse import few_dimensions
from aninfonce.diagnostics.finding import Finding, Status, cannot_tell, gravest, judge, not_judged, titled
from aninfonce.diagnostics.intervals import Matrix, jackknife
from aninfonce.diagnostics.sample import Sample
from aninfonce.plots._axes import LEVEL, MAIN, Axes, whole_ticks

_LEVEL = 1e-3
# What counts as large, since with enough rows any departure is significant.
_MEAN, _EIGENVALUE = 0.1, 0.25


@titled("Uniformity on the sphere")
def uniformity(sample: Sample) -> Finding:
    """Rayleigh's test (is the mean off the centre?) and Bingham's (do axes differ?) of the directions.

    A concern if either test rejects at 0.1 % and the departure is not small. Not judged if the run is known
    to have no sphere, nor for an embedding that leaves most of its dimensions empty.

    References:
        Mardia and Jupp, "Directional statistics" (2000), sections 10.4 and 10.7.

    """
    u = _directions(sample.z)
    n, d = u.shape
    value, interval = jackknife(lambda rows: float(np.linalg.norm(u[rows].mean(axis=0))), n)
    rayleigh = float(stats.chi2.sf(n * d * value**2, d))
    scatter = np.linalg.eigvalsh(u.T @ u / n) * d
    statistic = n * (d + 2) / (2 * d) * float(((scatter - 1) ** 2).sum())
    bingham = float(stats.chi2.sf(statistic, (d - 1) * (d + 2) / 2)) if d > 1 else 1.0
    interval = max(interval[0], 0.0), interval[1]
    off_centre = judge(interval, _MEAN, bad="above")
    if off_centre == "concern" and rayleigh >= _LEVEL:
        off_centre = "undetermined"
    largest = float(np.abs(scatter - 1).max())
    # Scatter of so few rows is uneven even if they are drawn evenly (the edge of Marchenko and Pastur).
    by_chance = (1 + np.sqrt(d / n)) ** 2 - 1
    unequal: Status = "fine"
    if largest > _EIGENVALUE:
        unequal = "concern" if bingham < _LEVEL and largest > by_chance else "undetermined"
    remedy = "balance the data" if sample.run.potential else "add a candidate potential to the loss"
    if off_centre == "concern":
        advice = (
            "Embeddings lie to one side of the sphere, against what the theory assumes of anchors:"
            f" {remedy}, or see whether the embedding folded."
        )
    elif unequal == "concern":
        balance = "" if sample.run.potential else ", or balance the data"
        advice = (
            "Embeddings crowd along some axes of the sphere, against what theory assumes of anchors:"
            f" {remedy}{balance}."
        )
    elif "undetermined" in (off_centre, unequal):
        advice = cannot_tell("embeddings cover the sphere evenly")
    else:
        advice = "Embeddings cover the sphere about evenly."

    def draw(axis: Axes) -> None:
        axis.bar(np.arange(1, d + 1), scatter[::-1], color=MAIN)
        axis.axhline(1.0, **LEVEL)
        axis.set(xlabel="axis", ylabel="d × share of scatter")
        axis.set_title("Scatter of directions (dotted: uniform)")
        whole_ticks(axis.xaxis, np.arange(1, d + 1))

    details = {
        "rayleigh_p": rayleigh,
        "bingham_p": bingham,
        "largest_eigenvalue": float(scatter[-1]),
        "smallest_eigenvalue": float(scatter[0]),
    }
    if why := _beside_the_point(sample):
        return not_judged(why, details=details, draw=draw)
    return Finding(
        measure="length of the mean direction (0 if even)",
        value=value,
        interval=interval,
        status=gravest(off_centre, unequal),
        advice=advice,
        details=details,
        draw=draw,
    )


def _beside_the_point(sample: Sample) -> str | None:
    """Say why the embedding need not, or cannot, cover a sphere."""
    if sample.run.flat:
        return f"this run's space is {sample.run.space!r}, where no sphere has to be covered"
    if few_dimensions(sample) == "concern":
        return "an embedding that leaves most of its dimensions empty covers no sphere, see the collapse"
    return None


def _directions(z: Matrix) -> Matrix:
    length = np.linalg.norm(z, axis=1, keepdims=True)
    return z[length[:, 0] > 0] / length[length[:, 0] > 0] if (length > 0).any() else np.ones_like(z)
