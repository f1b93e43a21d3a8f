"""Recordings whose sources are known: AR(1) sources behind a nonlinear mixing, and ways to break the theorem.

Source i follows z⁺ = φz + √(1−φ²)·e with innovations e of unit variance: an Ornstein–Uhlenbeck process that
is read once a row. It has unit variance, so Λ = φ/(1−φ²) (`docs/beyond-the-sphere.md`).
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import torch

from aninfonce.extending import check_choice, check_count, check_number, derive_seed, stream
from aninfonce.mixing import InvertibleMLP

Matrix = npt.NDArray[np.float64]

Break = Literal["none", "tails", "place", "noise", "correlation", "drift"]
BREAKS: tuple[Break, ...] = get_args(Break)
Innovations = Literal["normal", "laplace"]
# Rows before the first that is kept: at φ = .995 less than 1 % of the start is then left.
_BURN_IN = 1_000


class Recording(NamedTuple):
    """What is seen, what is behind it, and Λ of the sources if nothing is broken."""

    x: Matrix
    """(T, D) observations."""
    z: Matrix
    """(T, d) sources of unit variance."""
    concentration: Matrix
    """(d,) φ/(1−φ²) of rows that are one apart."""


def make_recording(
    phi: Any,
    rows: int,
    seed: int,
    *,
    innovations: Innovations = "normal",
    broken: Break = "none",
    dial: float = 0.0,
    candidates: int = 1_000,
) -> Recording:
    """Draw sources and a mixing, and record them.

    Example:
        >>> recording = make_recording([0.5, 0.9], 5_000, seed=0, candidates=10)
        >>> recording.x.shape, recording.concentration.round(2).tolist()
        ((5000, 2), [0.67, 4.74])

    Args:
        phi: (d,) autocorrelation of each source from one row to the next, between 0 and 1.
        rows: T.
        seed: of sources, mixing and noise.
        innovations: their law.
        broken: which assumption of the theorem fails. "tails": innovations of a Student law with `dial`
            degrees of freedom, more than 2. "place": the step of a source is larger where the source is
            large, by exp(dial·tanh z). "noise": every channel has noise of `dial` times its own spread.
            "correlation": any two sources correlate by `dial`. "drift": the spread of sources rises
            (even ones) or falls (odd ones) by a factor of exp(2·dial) from the first row to the last.
        dial: how much.
        candidates: matrices drawn for each layer of the mixing.

    """
    values = np.asarray(phi, dtype=np.float64)
    if values.ndim != 1 or not values.size or not ((values > 0) & (values < 1)).all():
        raise ValueError(f"`phi` must hold numbers between 0 and 1, got {phi!r}")
    check_count(rows, "rows")
    check_choice(innovations, "innovations", get_args(Innovations))
    check_choice(broken, "broken", BREAKS)
    check_number(dial, "dial")
    rng = np.random.default_rng(derive_seed(seed, "sources"))
    drawn = _draw(rng, (rows + _BURN_IN, len(values)), innovations, dial if broken == "tails" else None)
    if broken == "drift":
        time = np.linspace(-1.0, 1.0, rows)
        rises = np.where(np.arange(len(values)) % 2 == 0, 1.0, -1.0)
        drawn[_BURN_IN:] *= np.exp(dial * time[:, None] * rises)
    z = _follow(values, drawn, dial if broken == "place" else 0.0)[_BURN_IN:]
    if broken == "correlation":
        z = z @ correlating(len(values), dial)
    if broken in ("place", "drift"):
        # Scaled to unit variance over the whole recording; the other laws have unit variance by themselves.
        z = (z - z.mean(axis=0)) / z.std(axis=0)
    x = mixed(z, seed, candidates)
    if broken == "noise":
        noise = np.random.default_rng(derive_seed(seed, "noise")).normal(size=x.shape)
        x = x + dial * x.std(axis=0) * noise
    return Recording(x, z, values / (1 - values**2))


def mixed(z: Matrix, seed: int, candidates: int) -> Matrix:
    """Send sources (T, d) through the papers' mixing, of `candidates` matrices for each layer."""
    mixing = InvertibleMLP(z.shape[1], candidates=candidates, generator=stream(seed, "mixing"))
    with torch.no_grad():
        x: Matrix = mixing(torch.from_numpy(z)).numpy()
    return x


def correlating(dim: int, correlation: float) -> Matrix:
    """Give the symmetric map that makes uncorrelated columns of unit variance correlate, any two alike.

    >>> (correlating(3, 0.5) @ correlating(3, 0.5)).round(6).tolist()[0]
    [1.0, 0.5, 0.5]
    """
    covariance = np.full((dim, dim), correlation) + (1.0 - correlation) * np.eye(dim)
    values, axes = np.linalg.eigh(covariance)
    if values[0] <= 0:
        raise ValueError(
            f"`correlation` of {dim} sources must give a positive definite covariance, got {correlation:g}"
        )
    root: Matrix = (axes * np.sqrt(values)) @ axes.T
    return root


def _draw(
    rng: np.random.Generator, shape: tuple[int, int], law: Innovations, freedom: float | None
) -> Matrix:
    """Innovations of unit variance."""
    if freedom is not None:
        if freedom <= 2:
            raise ValueError(f"`dial` must be above 2, or tails have no variance, got {freedom:g}")
        drawn: Matrix = rng.standard_t(freedom, size=shape) * math.sqrt((freedom - 2) / freedom)
        return drawn
    return rng.laplace(size=shape) / math.sqrt(2) if law == "laplace" else rng.normal(size=shape)


def _follow(phi: Matrix, drawn: Matrix, place: float) -> Matrix:
    """Let each source follow its own past, from 0."""
    steps = np.sqrt(1 - phi**2) * drawn
    z = np.zeros_like(steps)
    for row in range(1, len(z)):
        before = z[row - 1]
        z[row] = phi * before + steps[row] * (np.exp(place * np.tanh(before)) if place else 1.0)
    return z
