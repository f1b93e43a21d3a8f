"""Linear peers in a few lines each: AMUSE, SOBI and slow feature analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import torch
from scipy.linalg import eigh

from aninfonce.alignment import joint_diagonalisation

Array = npt.NDArray[np.floating]
Transform = Callable[[Array], Array]


def whitener(x: Array, dim: int) -> tuple[Array, Array]:
    """Give the mean (D,) and the map (D, d) to the `dim` leading principal components, of unit variance."""
    mean = x.mean(axis=0, dtype=np.float64)
    centred = x - mean
    values, vectors = np.linalg.eigh(centred.T @ centred / len(x))
    return mean, vectors[:, -dim:] / np.sqrt(np.maximum(values[-dim:], 1e-12 * values[-1]))


def lagged(y: Array, lag: int) -> Array:
    """Symmetric covariance (d, d) of centred rows with those `lag` later."""
    product = y[:-lag].T @ y[lag:] / (len(y) - lag)
    return (product + product.T) / 2


def amuse(x: Array, dim: int, x_pos: Array | None = None, lag: int = 1) -> Transform:
    """Second-order separation by one lag: whiten, then the eigenvectors of the lagged covariance.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> slow, fast = np.cumsum(rng.normal(size=1000)), rng.normal(size=1000)
        >>> sources = np.stack([slow / slow.std(), fast], axis=1)
        >>> x = sources @ np.array([[1.0, 2.0], [-1.0, 1.0]])
        >>> found = amuse(x, 2)(x)
        >>> bool(abs(np.corrcoef(found[:, 1], slow)[0, 1]) > 0.99)
        True

    Args:
        x: rows (N, D), in the order of time or anchors.
        dim: d.
        x_pos: positives (N, D), instead of the rows one lag later.
        lag: rows.

    Returns:
        The map from rows to components (N, d), the slowest last.

    References:
        Tong, Soon, Huang, Liu: "AMUSE: a new blind identification algorithm" (1990).

    """
    both = x if x_pos is None else np.concatenate([x, x_pos])
    mean, white = whitener(both, dim)
    if x_pos is None:
        moment = lagged((x - mean) @ white, lag)
    else:
        moment = ((x - mean) @ white).T @ ((x_pos - mean) @ white) / len(x)
        moment = (moment + moment.T) / 2
    unmix = white @ np.linalg.eigh(moment)[1]
    return lambda rows: (rows - mean) @ unmix


def sobi(x: Array, dim: int, lags: Sequence[int] = (1, 2, 4, 8, 16, 32, 64)) -> Transform:
    """Second-order separation by several lags: whiten, then diagonalise all lagged covariances together.

    Args:
        x: rows (N, D) in the order of time.
        dim: d.
        lags: rows.

    Returns:
        The map from rows to components (N, d).

    References:
        Belouchrani et al., "A blind source separation technique using second-order statistics" (1997).

    """
    mean, white = whitener(x, dim)
    y = (x - mean) @ white
    moments = torch.from_numpy(np.stack([lagged(y, lag) for lag in lags]))
    unmix = white @ joint_diagonalisation(moments).axes.numpy()
    return lambda rows: (rows - mean) @ unmix


def slow_features(x: Array, dim: int, x_pos: Array | None = None, *, quadratic: bool = False) -> Transform:
    """Slow feature analysis: the unit-variance projections that change least from a row to the next.

    Args:
        x: rows (N, D), in the order of time or anchors.
        dim: d.
        x_pos: positives (N, D), instead of the next rows.
        quadratic: of the whitened rows and all products of two of them, not of the rows alone.

    Returns:
        The map from rows to components (N, d), the slowest first.

    References:
        Wiskott, Sejnowski: "Slow feature analysis: unsupervised learning of invariances" (2002).

    """
    centre, white = whitener(x, x.shape[1])
    first, second = np.triu_indices(x.shape[1])

    def expand(rows: Array) -> Array:
        y = (rows - centre) @ white
        return np.concatenate([y, y[:, first] * y[:, second]], axis=1) if quadratic else y

    features = expand(x)
    mean = features.mean(axis=0)
    change = np.diff(features, axis=0) if x_pos is None else expand(x_pos) - features
    covariance = (features - mean).T @ (features - mean) / len(x)
    # A little on the diagonal: products of channels can be linear functions of each other.
    covariance += 1e-9 * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    weights = eigh(change.T @ change / len(change), covariance, subset_by_index=[0, dim - 1])[1]
    return lambda rows: (expand(rows) - mean) @ weights
