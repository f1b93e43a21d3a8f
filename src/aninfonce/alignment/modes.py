"""What moves in an embedding of pairs, and how: decays and oscillators of its linear dynamics.

Where latents follow z⁺ = Az + noise, an embedding trained with `LinearDynamics` is h = Lz + c with any
invertible L (`docs/howto/dynamics.md`). The operator that predicts h⁺ from h then has the eigenvalues of A,
whatever L is, and its eigenvectors are the sources: a real one decays, a pair of complex ones turns.

No embedding is exact. A regression of h⁺ on h takes the errors of h for forgetting: modes seem to fade too
quickly, and an oscillator whose two columns are much alike may be taken for two decays. Rows before the
anchors depend on the sources but not on those errors: they show whether the errors matter, and serve as
instruments with which the operator is fitted without them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from aninfonce._seeds import derive_seed
from aninfonce._validation import check_count, describe

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

# Directions with less than this share of the largest variance hold nothing but rounding.
_RANK = 1e-10
# Moduli are kept this far from 0 and 1, where time constants would be 0 or infinite.
_EDGE = 1e-6
# Steps from an anchor back to the rows that tell errors from forgetting. Not one: over one step embeddings
# are trained to agree, errors included.
EARLIER = (2, 3, 4)
# Share of regressions of rows without errors in which earlier rows seem to explain the residuals.
_FALSE_ALARM = 0.01
# Directions of which earlier rows explain more than this share always use them: it costs little.
_WELL_TOLD = 0.5


class LinearModes(NamedTuple):
    """The affine map e = A(h − b) to columns that move each by itself, or in pairs; and how they move.

    Columns have unit variance, and those of a pair are uncorrelated. The slowest come last.
    """

    matrix: Floats
    """A, (d, d)."""
    centre: Floats
    """b, (d,)."""
    operator: Floats
    """K, (d, d): how the sources go on, e⁺ ≈ eK; zero between different modes."""
    modulus: Floats
    """|λ| of each column's mode (d,): what is left of its size after a step."""
    modulus_interval: Floats
    """(d, 2), 95 %."""
    angle: Floats
    """Radians by which the mode turns in a step (d,), from 0 to π; two columns share one."""
    angle_interval: Floats
    """(d, 2), 95 %. A pair oscillates if it does not reach 0."""
    regression: Floats
    """(d, d): the best linear guess of e⁺ from e as it is, with its errors; K if these are not known."""

    def __call__(self, h: Floats) -> Floats:
        """Map embeddings (N, d)."""
        mapped: Floats = (h - self.centre) @ self.matrix.T
        return mapped

    @property
    def oscillators(self) -> list[Index]:
        """Pairs of columns that turn: those whose angle differs from 0."""
        return [pair for pair in self.pairs if self.angle_interval[pair[0], 0] > 0]

    @property
    def pairs(self) -> list[Index]:
        """Columns that move two by two, whether or not their angle differs from 0."""
        off = self.operator - np.diag(np.diag(self.operator))
        starts = np.flatnonzero(off.any(axis=1))[::2]
        return [np.arange(first, first + 2) for first in starts]

    @property
    def columns(self) -> list[Index]:
        """Columns of each mode, in order: two for a pair, one otherwise."""
        second = {int(pair[1]) for pair in self.pairs}
        starts = [column for column in range(len(self.centre)) if column not in second]
        return np.split(np.arange(len(self.centre)), starts[1:])

    def shares(self, h: Floats, x: Floats) -> Floats:
        """Measure how much of what was observed each mode explains by itself, (d,), the same for its columns.

        Modes are not orthogonal, so shares need not add up to what all explain together.

        Args:
            h: embeddings (N, d).
            x: what was observed (N, D); every channel that varies counts the same.

        Returns:
            Share of the variance of x that a linear readout of the mode's columns explains, for each column.

        """
        e = self(h)
        e = e - e.mean(axis=0)
        x = x - x.mean(axis=0)
        sizes = (x**2).sum(axis=0)
        varied = sizes > sizes.max(initial=0.0) * _RANK**2
        found = np.zeros(len(self.centre))
        for columns in self.columns:
            told = np.linalg.qr(e[:, columns])[0].T @ x[:, varied]
            found[columns] = ((told**2).sum(axis=0) / sizes[varied]).mean() if varied.any() else 0.0
        return found

    def ahead(self, steps: int) -> Floats:
        """Give the map (d, d) such that e @ map is the best linear guess of e some steps later.

        Errors of e are gone after the first step: from then on only the sources move.
        """
        if steps == 0:
            return np.eye(len(self.centre))
        further: Floats = self.regression @ np.linalg.matrix_power(self.operator, steps - 1)
        return further

    def still(self) -> Floats:
        """Give `ahead(1)` without rotations: its part within each pair of columns is made symmetric."""
        step = self.regression.copy()
        for pair in self.pairs:
            block = step[np.ix_(pair, pair)]
            step[np.ix_(pair, pair)] = 0.5 * (block + block.T)
        return step

    def first_step(self) -> tuple[Floats, Floats]:
        """Give a map h ↦ hM + b, (d, d) and (d,), that turns oscillators of more than a right angle.

        It is where `LinearDynamics` starts. From M = I, an encoder takes such oscillators for noise and loses
        them. From the best prediction, which is small while everything is still mixed, it loses what decays
        quickly.
        """
        turn = np.eye(len(self.centre))
        for pair in (pair for pair in self.oscillators if self.angle[pair[0]] > np.pi / 2):
            turn[np.ix_(pair, pair)] = self.operator[np.ix_(pair, pair)] / self.modulus[pair[0]]
        step: Floats = self.matrix.T @ turn @ np.linalg.inv(self.matrix.T)
        return step, self.centre - self.centre @ step

    def time_constants(self, lag: float = 1.0) -> Floats:
        """Give the time in which a mode falls to 1/e, with both ends of its interval, (d, 3)."""
        ends = np.concatenate([self.modulus[:, None], self.modulus_interval], axis=1)
        times: Floats = -lag / np.log(np.clip(ends, _EDGE, 1 - _EDGE))
        return times

    def frequencies(self, lag: float = 1.0) -> Floats:
        """Give turns per unit of time, with both ends of the interval, (d, 3); 0 for decays.

        Frequencies that differ by whole turns per lag cannot be told apart: these are the smallest.
        """
        ends = np.concatenate([self.angle[:, None], self.angle_interval], axis=1)
        return ends / (2 * np.pi * lag)


def linear_modes(
    h: Floats,
    h_pos: Floats,
    *,
    earlier: Floats | None = None,
    clusters: Index | None = None,
    draws: int = 400,
    seed: int = 0,
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
        earlier: what was seen before the anchors (N, k), such as embeddings two and more steps earlier (over
            one step they were trained to agree, errors included). Where these show that h has errors, the
            errors are not taken for forgetting.
        clusters: (N,) numbers of stretches of time whose pairs are drawn together; each by itself if None.
        draws: of the bootstrap.
        seed: of the draws.

    Returns:
        The modes.

    References:
        Schmid, "Dynamic mode decomposition of numerical and experimental data" (2010).
        Söderström and Stoica, "Instrumental variable methods for system identification" (2002).

    """
    h = _checked(h, "h", "(N, d) with N well above d")
    h_pos = _checked(h_pos, "h_pos", f"of shape {h.shape}", *h.shape)
    if earlier is not None:
        earlier = _checked(earlier, "earlier", f"(N, k) with N={len(h)} as `h` has", len(h))
    check_count(draws, "draws", minimum=10)
    both = np.concatenate([h, h_pos])
    centre = both.mean(axis=0)
    spread, directions = np.linalg.eigh(np.atleast_2d(np.cov(both.T)))
    sphering = directions / np.sqrt(np.maximum(spread, spread[-1] * _RANK))
    e, e_pos = (h - centre) @ sphering, (h_pos - centre) @ sphering
    stretch = np.arange(len(h)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    told = e if earlier is None else _told_by(earlier, e, e_pos, stretch)
    bases = _real_bases(np.linalg.solve(told.T @ e, told.T @ e_pos))
    columns = np.concatenate(bases, axis=1)
    blocks = np.split(np.arange(len(centre)), np.cumsum([basis.shape[1] for basis in bases])[:-1])
    e, e_pos = e @ columns, e_pos @ columns
    operator = np.linalg.solve(told.T @ e, told.T @ e_pos)
    drawn = _drawn_operators(told, e, e_pos, stretch, draws, seed)
    d = len(centre)
    modulus, angle, kept = np.empty((d, 3)), np.empty((d, 3)), np.zeros((d, d))
    for block in blocks:
        inside = np.ix_(block, block)
        value = _polar(operator[inside])
        # In a stationary recording nothing grows.
        kept[inside] = operator[inside] / max(1.0, value[0] + _EDGE)
        spread_of = np.stack([_polar(draw[inside]) for draw in drawn])
        ends = np.percentile(spread_of, [2.5, 97.5], axis=0)
        if len(block) == 1 and ends[0, 1] < ends[1, 1]:
            # Not even its sign is known.
            ends[0, 0] = 0.0
        modulus[block] = np.minimum([value[0], *ends[:, 0]], 1.0 - _EDGE)
        angle[block] = [value[1], *ends[:, 1]]
    matrix = (sphering @ columns).T
    regression = kept if earlier is None else np.linalg.solve(e.T @ e, e.T @ e_pos)
    return LinearModes(
        matrix, centre, kept, modulus[:, 0], modulus[:, 1:], angle[:, 0], angle[:, 1:], regression
    )


def recording_modes(e: Floats, lag: int = 1, *, draws: int = 400, seed: int = 0) -> LinearModes:
    """Find the modes of a recording, or of its embedding: `linear_modes` of rows that are `lag` apart.

    Rows two to four lags before an anchor tell errors of its row from forgetting.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> s = rng.normal(size=20_000)
        >>> for row in range(1, len(s)):
        ...     s[row] += 0.9 * s[row - 1]
        >>> seen = (s / s.std() + 0.5 * rng.normal(size=len(s)))[:, None]
        >>> recording_modes(seen).modulus.round(1), linear_modes(seen[:-1], seen[1:]).modulus.round(1)
        (array([0.9]), array([0.7]))

    Args:
        e: (T, d) rows in the order of time, with no gap.
        lag: rows of a step.
        draws: of the bootstrap.
        seed: of the draws.

    Returns:
        The modes.

    """
    check_count(lag, "lag")
    first = max(EARLIER) * lag
    if not isinstance(e, np.ndarray) or e.ndim != 2 or len(e) <= first + lag + e.shape[1] + 1:
        raise ValueError(
            f"`e` must be numbers (T, d) in the order of time, T well above {first + lag} at `lag` {lag}, "
            f"got {describe(e)}"
        )
    anchors = np.arange(first, len(e) - lag)
    earlier = np.concatenate([e[anchors - back * lag] for back in EARLIER], axis=1)
    clusters = (anchors - first) // max(lag, round(len(anchors) ** 0.5))
    return linear_modes(
        e[anchors], e[anchors + lag], earlier=earlier, clusters=clusters, draws=draws, seed=seed
    )


def _checked(
    value: Floats, name: str, wanted: str, rows: int | None = None, columns: int | None = None
) -> Floats:
    """Require a finite matrix of these rows and columns, or of more rows than columns if none are given."""
    shape = value.shape if isinstance(value, np.ndarray) and value.ndim == 2 else (0, 0)
    fits = shape[0] > shape[1] + 1 if rows is None else shape[0] == rows and columns in (None, shape[1])
    if not fits or not np.isfinite(value).all():
        raise ValueError(f"`{name}` must be finite numbers {wanted}, got {describe(value)}")
    return value.astype(np.float64)


def _told_by(earlier: Floats, e: Floats, e_pos: Floats, stretch: Index) -> Floats:
    """Give the d instruments (N, d) for fitting K in e⁺ = eK, one for each direction of e (N, d), whitened.

    If rows had no errors, earlier ones would not explain the residuals of a regression of e⁺ on e. Directions
    for which they do, or which they predict well, are replaced by that prediction. The others stay as they
    are, which leaves less to chance.
    """
    centred = earlier - earlier.mean(axis=0)
    guess = centred @ np.linalg.lstsq(centred, e, rcond=None)[0]
    shares, axes = np.linalg.eigh(guess.T @ guess / len(e))
    guess = guess @ axes
    told: Floats = e @ axes
    left = e_pos - e @ np.linalg.solve(e.T @ e, e.T @ e_pos)
    order = np.argsort(stretch, kind="stable")
    starts = np.flatnonzero(np.diff(stretch[order], prepend=-1))
    count, d = len(starts), e.shape[1]
    if count <= 2 * d:
        return told
    for axis in range(d):
        # Hotelling's test: are the sums over stretches of time about 0?
        sums = np.add.reduceat((guess[:, axis, None] * left)[order], starts)
        mean, spread = sums.mean(axis=0), np.atleast_2d(np.cov(sums.T))
        distance = float(count * mean @ np.linalg.lstsq(spread, mean, rcond=None)[0])
        chance = stats.f.sf(distance * (count - d) / (d * (count - 1)), d, count - d)
        if shares[axis] > _WELL_TOLD or chance < _FALSE_ALARM:
            told[:, axis] = guess[:, axis]
    return told


def _real_bases(operator: Floats) -> list[Floats]:
    """Give eigenvectors of e⁺ = eK as real columns, (d, 1) or (d, 2) for each mode, slow ones last.

    If e is whitened, columns have unit variance and those of a pair are uncorrelated: a pair then turns as
    evenly as it can.
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


def _drawn_operators(told: Floats, e: Floats, e_pos: Floats, stretch: Index, draws: int, seed: int) -> Floats:
    """Fit the operator on clusters drawn with replacement, (draws, d, d)."""
    rng = np.random.default_rng(derive_seed(seed, "modes"))
    d = e.shape[1]
    count = int(stretch.max()) + 1
    drawn = np.empty((draws, d, d))
    for number in range(draws):
        weight = np.bincount(rng.integers(count, size=count), minlength=count)[stretch]
        weighted = told * weight[:, None]
        drawn[number] = np.linalg.solve(weighted.T @ e, weighted.T @ e_pos)
    return drawn
