"""Recordings in which something turns: rotating sources, and AR(2) sources seen twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from aninfonce.extending import check_choice, check_count, derive_seed
from aninfonce_papers.beyond.worlds import Matrix, mixed

Kind = Literal["rotating", "ar2"]
# Rows before the first that is kept: at φ = .99 less than 1 % of the start is then left.
_BURN_IN = 500


class Turning(NamedTuple):
    """What is seen, what is behind it, and how that moves."""

    x: Matrix
    """(T, D) observations."""
    z: Matrix
    """(T, d) sources of unit variance: two columns for each oscillator, then one for each decay."""
    blocks: list[list[int]]
    """Columns of z that belong together."""
    frequencies: Matrix
    """(oscillators,) turns in a row."""
    lag: int
    """Rows from an anchor to its positive, at least: over fewer, some of z would be known exactly."""


def make_turning(
    kind: Kind,
    angles: Sequence[float],
    sizes: Sequence[float],
    phi: Sequence[float],
    rows: int,
    seed: int,
    *,
    candidates: int = 1_000,
) -> Turning:
    """Draw oscillators and decays and a mixing, and record them.

    Example:
        >>> world = make_turning("rotating", [0.3], [0.95], [0.5], 5_000, seed=0, candidates=10)
        >>> world.x.shape, world.blocks, world.frequencies.round(3).tolist()
        ((5000, 3), [[0, 1], [2]], [0.048])
        >>> make_turning("ar2", [0.3], [0.95], [], 5_000, seed=0, candidates=10).x.shape
        (5000, 2)

    Args:
        kind: "rotating": both coordinates of every oscillator are mixed, z⁺ = ρR(ω)z + noise. "ar2": one
            number of each, s⁺ = 2ρ cos ω s − ρ² s⁻ + noise, and a row of x holds the mixture now and one row
            earlier.
        angles: ω, radians in a row.
        sizes: ρ of each oscillator, what is left of it after a row.
        phi: autocorrelations of the decays; "ar2" has none.
        rows: T.
        seed: of sources and mixing.
        candidates: matrices drawn for each layer of the mixing.

    """
    check_choice(kind, "kind", get_args(Kind))
    check_count(rows, "rows")
    if len(angles) != len(sizes):
        raise ValueError(f"`sizes` must hold one number for each of {len(angles)} `angles`, got {len(sizes)}")
    if kind == "ar2" and len(phi):
        raise ValueError(f"`phi` must be empty for 'ar2', got {phi!r}")
    rng = np.random.default_rng(derive_seed(seed, "sources"))
    pairs = [[2 * place, 2 * place + 1] for place in range(len(angles))]
    turns = np.asarray(angles, dtype=np.float64) / (2 * np.pi)
    if kind == "ar2":
        sources = _second_order(np.asarray(angles), np.asarray(sizes), rows + 1, rng)
        x = mixed(sources, seed, candidates)
        # Now and a row earlier, oscillator by oscillator.
        z = np.stack([sources[1:], sources[:-1]], axis=2).reshape(rows, -1)
        return Turning(np.concatenate([x[1:], x[:-1]], axis=1), z, pairs, turns, 2)
    z = _rotating(angles, sizes, phi, rows, rng)
    decays = [[place] for place in range(2 * len(angles), z.shape[1])]
    return Turning(mixed(z, seed, candidates), z, pairs + decays, turns, 1)


def _rotating(
    angles: Sequence[float], sizes: Sequence[float], phi: Sequence[float], rows: int, rng: np.random.Generator
) -> Matrix:
    """Let each pair of columns turn and shrink, and each other column shrink, driven to unit variance."""
    values = [size * np.exp(1j * angle) for angle, size in zip(angles, sizes, strict=True)]
    moduli = np.array([abs(value) for value in values for _ in range(2)] + list(phi))
    operator = np.diag(np.array([value.real for value in values for _ in range(2)] + list(phi)))
    for place, value in enumerate(values):
        operator[2 * place, 2 * place + 1] = -value.imag
        operator[2 * place + 1, 2 * place] = value.imag
    z = np.sqrt(1 - moduli**2) * rng.normal(size=(rows + _BURN_IN, len(moduli)))
    for row in range(1, len(z)):
        z[row] += operator @ z[row - 1]
    kept: Matrix = z[_BURN_IN:]
    return kept


def _second_order(angles: Matrix, sizes: Matrix, rows: int, rng: np.random.Generator) -> Matrix:
    """Draw AR(2) sources (T, n) and bring them to unit variance."""
    s = rng.normal(size=(rows + _BURN_IN, len(angles)))
    for row in range(2, len(s)):
        s[row] += 2 * sizes * np.cos(angles) * s[row - 1] - sizes**2 * s[row - 2]
    kept = s[_BURN_IN:]
    centred: Matrix = (kept - kept.mean(axis=0)) / kept.std(axis=0)
    return centred
