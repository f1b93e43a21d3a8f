"""What moves in an embedding of pairs, and how: decays and oscillators of its linear dynamics.

Where latents follow z⁺ = Az + noise, an embedding trained with `LinearDynamics` is h = Lz + c with any
invertible L (`docs/howto/dynamics.md`). The operator that predicts h⁺ from h then has the eigenvalues of A,
whatever L is, and its eigenvectors are the sources: a real one decays, a pair of complex ones turns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aninfonce._seeds import derive_seed
from aninfonce._validation import check_count, describe

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

# Directions with less than this share of the largest variance hold nothing but rounding.
_RANK = 1e-10
# Moduli are kept this far from 0 and 1, where time constants end.
_EDGE = 1e-6


class LinearModes(NamedTuple):
    """The affine map e = A(h − b) to columns that move each by itself, or in pairs; and how they move.

    Columns have unit variance, and those of a pair are uncorrelated. The slowest come last.
    """

    matrix: Floats
    """A, (d, d)."""
    centre: Floats
    """b, (d,)."""
    operator: Floats
    """K, (d, d): e⁺ is predicted as `e @ K`; zero between different modes."""
    modulus: Floats
    """|λ| of each column's mode (d,): what is left of its size after a step."""
    modulus_interval: Floats
    """(d, 2), 95 %."""
    angle: Floats
    """Radians by which the mode turns in a step (d,), from 0 to π; two columns share one."""
    angle_interval: Floats
    """(d, 2), 95 %. A pair oscillates if it does not reach 0."""

    def __call__(self, h: Floats) -> Floats:
        """Map embeddings (N, d)."""
        mapped: Floats = (h - self.centre) @ self.matrix.T
        return mapped

    @property
    def oscillators(self) -> list[Index]:
        """Pairs of columns that turn: whose angle is told from 0."""
        return [pair for pair in self.pairs if self.angle_interval[pair[0], 0] > 0]

    @property
    def pairs(self) -> list[Index]:
        """Columns that move two by two, whether or not an angle is told from 0."""
        off = self.operator - np.diag(np.diag(self.operator))
        starts = np.flatnonzero(off.any(axis=1))[::2]
        return [np.arange(first, first + 2) for first in starts]

    def time_constants(self, lag: float = 1.0) -> Floats:
        """Give the time after which a mode has fallen to 1/e, with both ends of its interval, (d, 3)."""
        ends = np.concatenate([self.modulus[:, None], self.modulus_interval], axis=1)
        times: Floats = -lag / np.log(np.clip(ends, _EDGE, 1 - _EDGE))
        return times

    def frequencies(self, lag: float = 1.0) -> Floats:
        """Give turns in a unit of time, with both ends of the interval, (d, 3); those of decays are 0.

        One lag tells no frequency from another that makes whole turns more in it: these are the smallest.
        """
        ends = np.concatenate([self.angle[:, None], self.angle_interval], axis=1)
        return ends / (2 * np.pi * lag)


def linear_modes(
    h: Floats, h_pos: Floats, *, clusters: Index | None = None, draws: int = 400, seed: int = 0
) -> LinearModes:
    """Find the real blocks of the linear operator from one side of pairs to the other.

    Intervals are those of a bootstrap over clusters, for the embedding as it is.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> z = np.zeros((20_000, 3))
        >>> turn = 0.95 * np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
        >>> for row in range(1, len(z)):
        ...     z[row, :2] = turn @ z[row - 1, :2] + 0.1 * rng.normal(size=2)
        ...     z[row, 2] = 0.5 * z[row - 1, 2] + 0.1 * rng.normal()
        >>> modes = linear_modes(z[:-1], z[1:])
        >>> modes.modulus.round(2).tolist(), modes.angle.round(1).tolist()
        ([0.5, 0.95, 0.95], [0.0, 0.4, 0.4])
        >>> modes.oscillators
        [array([1, 2])]

    Args:
        h: embeddings of anchors (N, d).
        h_pos: of their positives (N, d), a step later.
        clusters: (N,) numbers of stretches of time whose pairs are drawn together; each by itself if None.
        draws: of the bootstrap.
        seed: of the draws.

    Returns:
        The modes.

    References:
        Schmid, "Dynamic mode decomposition of numerical and experimental data" (2010).

    """
    h, h_pos = _checked(h, h_pos)
    check_count(draws, "draws", minimum=10)
    both = np.concatenate([h, h_pos])
    centre = both.mean(axis=0)
    spread, directions = np.linalg.eigh(np.atleast_2d(np.cov(both.T)))
    sphering = directions / np.sqrt(np.maximum(spread, spread[-1] * _RANK))
    e, e_pos = (h - centre) @ sphering, (h_pos - centre) @ sphering
    bases = _real_bases(np.linalg.solve(e.T @ e, e.T @ e_pos))
    columns = np.concatenate(bases, axis=1)
    blocks = np.split(np.arange(len(centre)), np.cumsum([basis.shape[1] for basis in bases])[:-1])
    e, e_pos = e @ columns, e_pos @ columns
    operator = np.linalg.solve(e.T @ e, e.T @ e_pos)
    drawn = _drawn_operators(e, e_pos, clusters, draws, seed)
    d = len(centre)
    modulus, angle, kept = np.empty((d, 3)), np.empty((d, 3)), np.zeros((d, d))
    for block in blocks:
        inside = np.ix_(block, block)
        kept[inside] = operator[inside]
        value = _polar(operator[inside])
        spread_of = np.stack([_polar(draw[inside]) for draw in drawn])
        ends = np.percentile(spread_of, [2.5, 97.5], axis=0)
        if len(block) == 1 and ends[0, 1] < ends[1, 1]:
            # Not even its sign is told.
            ends[0, 0] = 0.0
        modulus[block] = [value[0], *ends[:, 0]]
        angle[block] = [value[1], *ends[:, 1]]
    matrix = (sphering @ columns).T
    return LinearModes(matrix, centre, kept, modulus[:, 0], modulus[:, 1:], angle[:, 0], angle[:, 1:])


def _checked(h: Floats, h_pos: Floats) -> tuple[Floats, Floats]:
    """Require two finite (N, d) arrays of numbers, N above d."""
    if not isinstance(h, np.ndarray) or h.ndim != 2 or len(h) <= h.shape[1] + 1 or not np.isfinite(h).all():
        raise ValueError(f"`h` must be finite numbers (N, d) with N well above d, got {describe(h)}")
    if not isinstance(h_pos, np.ndarray) or h_pos.shape != h.shape or not np.isfinite(h_pos).all():
        raise ValueError(f"`h_pos` must be finite numbers of shape {h.shape}, got {describe(h_pos)}")
    return h.astype(np.float64), h_pos.astype(np.float64)


def _real_bases(operator: Floats) -> list[Floats]:
    """Give eigenvectors of e⁺ = eK as real columns, (d, 1) or (d, 2) for each mode, slow ones last.

    Of unit variance and, in a pair, uncorrelated, if e is: then a pair turns as evenly as it can.
    """
    values, vectors = np.linalg.eig(operator)
    bases: list[Floats] = []
    for place in np.argsort(np.abs(values), kind="stable"):
        vector = vectors[:, place]
        if values[place].imag < 0:
            continue
        if values[place].imag == 0:
            bases.append(vector.real[:, None] / np.linalg.norm(vector.real))
            continue
        # The second column is where the first was a quarter of a turn ago.
        both = np.stack([vector.real, vector.imag], axis=1)
        sizes, axes = np.linalg.eigh(both.T @ both)
        bases.append(both @ ((axes / np.sqrt(np.maximum(sizes, sizes[-1] * _RANK))) @ axes.T))
    return bases


def _polar(block: Floats) -> tuple[float, float]:
    """Modulus and angle of the eigenvalues of a (1, 1) or (2, 2) block; angle 0 for a pair of real ones."""
    if len(block) == 1:
        return float(np.abs(block[0, 0])), float(np.pi * (block[0, 0] < 0))
    modulus = float(np.sqrt(np.abs(np.linalg.det(block))))
    cosine = float(np.trace(block)) / (2 * max(modulus, 1e-300))
    return modulus, float(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _drawn_operators(e: Floats, e_pos: Floats, clusters: Index | None, draws: int, seed: int) -> Floats:
    """Fit the operator on clusters drawn with replacement, (draws, d, d)."""
    rng = np.random.default_rng(derive_seed(seed, "modes"))
    d = e.shape[1]
    stretch = np.arange(len(e)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    count = int(stretch.max()) + 1
    drawn = np.empty((draws, d, d))
    for number in range(draws):
        weight = np.bincount(rng.integers(count, size=count), minlength=count)[stretch]
        weighted = e * weight[:, None]
        drawn[number] = np.linalg.solve(weighted.T @ e, weighted.T @ e_pos)
    return drawn
