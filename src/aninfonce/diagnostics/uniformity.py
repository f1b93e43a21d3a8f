"""Uniformity: whether the embeddings cover the sphere evenly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import stats

from aninfonce.diagnostics.finding import Finding
from aninfonce.diagnostics.intervals import jackknife
from aninfonce.diagnostics.sample import Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Matrix = npt.NDArray[np.float64]

_LEVEL = 1e-3
# What counts as large, since with enough rows any departure is significant.
_MEAN, _EIGENVALUE = 0.1, 0.25


def uniformity(sample: Sample) -> Finding:
    """Rayleigh's test (is the mean off the centre?) and Bingham's (do axes differ?) of the directions.

    Args:
        sample: embedded pairs.

    Returns:
        The finding; a concern if either test rejects at 0.1 % and the departure is not small.

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
    off_centre = rayleigh < _LEVEL and value > _MEAN
    unequal = bingham < _LEVEL and float(np.abs(scatter - 1).max()) > _EIGENVALUE
    if off_centre:
        advice = (
            "Embeddings lie to one side of the sphere, against what the theory assumes of anchors: add a"
            " candidate potential to the loss, or see whether the embedding folded."
        )
    elif unequal:
        advice = (
            "Embeddings crowd along some axes of the sphere, against what theory assumes of anchors: add a"
            " candidate potential to the loss, or balance the data."
        )
    else:
        advice = "Embeddings cover the sphere about evenly."

    def draw(axis: Axes) -> None:
        axis.bar(np.arange(1, d + 1), scatter[::-1], color="#22558f")
        axis.axhline(1.0, color="black", linewidth=1, linestyle=":")
        axis.set(xlabel="axis", ylabel="d × share of scatter")
        axis.set_title("Scatter of directions (dotted: uniform)")

    return Finding(
        name="uniformity",
        title="Uniformity on the sphere",
        measure="length of the mean direction (0 if even)",
        value=value,
        interval=(max(interval[0], 0.0), interval[1]),
        concern=bool(off_centre or unequal),
        advice=advice,
        details={
            "rayleigh_p": rayleigh,
            "bingham_p": bingham,
            "largest_eigenvalue": float(scatter[-1]),
            "smallest_eigenvalue": float(scatter[0]),
        },
        draw=draw,
    )


def _directions(z: Matrix) -> Matrix:
    length = np.linalg.norm(z, axis=1, keepdims=True)
    return z[length[:, 0] > 0] / length[length[:, 0] > 0] if (length > 0).any() else np.ones_like(z)
