"""An independent reference on the 2-sphere: cells, their probabilities by quadrature, and a χ² test."""

from collections.abc import Callable

import numpy as np
from scipy import stats

_NODES = 24


def cell_probabilities(
    log_density: Callable[[np.ndarray], np.ndarray], n_height: int = 10, n_angle: int = 12
) -> np.ndarray:
    """Probability of each (height, angle) cell; heights z = x₃ and angles cut the area evenly.

    Gauss–Legendre in height and angle; the integral over all cells normalises it, so that
    `log_density` may be unnormalised.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    heights = np.linspace(-1, 1, n_height + 1)
    angles = np.linspace(-np.pi, np.pi, n_angle + 1)
    h = (heights[:-1, None] + heights[1:, None]) / 2 + nodes * np.diff(heights)[:, None] / 2
    a = (angles[:-1, None] + angles[1:, None]) / 2 + nodes * np.diff(angles)[:, None] / 2
    hh, aa = h[:, None, :, None], a[None, :, None, :]
    radius = np.sqrt(1 - hh**2)
    points = np.stack(np.broadcast_arrays(radius * np.cos(aa), radius * np.sin(aa), hh), axis=-1)
    values = log_density(points)
    mass = (np.exp(values - values.max()) * weights[:, None] * weights).sum(axis=(2, 3))
    return mass / mass.sum()


def chi_square_p_value(points: np.ndarray, probabilities: np.ndarray) -> float:
    """p-value of draws (N, 3) against cell probabilities; cells expecting under 10 draws are merged."""
    n_height, n_angle = probabilities.shape
    row = np.clip(((points[:, 2] + 1) / 2 * n_height).astype(int), 0, n_height - 1)
    angle = np.arctan2(points[:, 1], points[:, 0])
    column = np.clip(((angle + np.pi) / (2 * np.pi) * n_angle).astype(int), 0, n_angle - 1)
    counts = np.bincount(row * n_angle + column, minlength=n_height * n_angle)
    expected = probabilities.ravel() * len(points)
    rare = expected < 10
    observed = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    keep = expected > 1e-9
    assert observed[~keep].sum() == 0
    return float(stats.chisquare(observed[keep], expected[keep]).pvalue)
