"""Worlds whose causes are known: recordings and pairs, mixed by a nonlinear map.

Everything is drawn from the seed and the world's name, so that every method meets the same rows. The last
fifth of them is only for scoring.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter
from scipy.stats import norm

from aninfonce._seeds import derive_seed
from benchmarks.recordings.coupling import coupled_pairs

Array = npt.NDArray[np.floating]
Kind = Literal["gauss", "laplace", "uniform"]

FIVE = (0.5, 0.7, 0.85, 0.95, 0.99)
# Rows before the first one that is kept: even φ = .99 has forgotten its start by then.
_BURN_IN = 2000


@dataclass(frozen=True)
class Data:
    """What a method is given, and what it is scored with.

    Attributes:
        x: observations (T, D), float32; in the order of time unless there are positives.
        z: the true factors (T, d), unit variance (on the sphere: unit length).
        x_pos: positives (T, D) of paired rows; None for a recording.
        concentration: the true Λ (d,), in the order of the columns of z; None where there is none.
        n_train: rows that may be trained on; the others are only for scoring.

    """

    x: Array
    z: Array
    x_pos: Array | None
    concentration: Array | None
    n_train: int

    @property
    def dim(self) -> int:
        """Number of factors."""
        return int(self.z.shape[1])


def generator(seed: int, *purpose: str) -> np.random.Generator:
    """Open the random numbers of a purpose."""
    return np.random.default_rng(derive_seed(seed, "recordings", *purpose))


def concentration_of(phi: Sequence[float]) -> Array:
    """Λ of unit-variance AR(1) sources at lag 1: φ / (1 − φ²)."""
    coefficients = np.asarray(phi)
    return coefficients / (1 - coefficients**2)


def autoregressive(phi: Sequence[float], rows: int, kinds: Sequence[Kind], rng: np.random.Generator) -> Array:
    """Draw independent AR(1) sources (T, d) of unit variance and autocorrelation `phi` at lag 1.

    Each has Gaussian or Laplace innovations, or is the ranks of a Gaussian source, which are uniform (its
    autocorrelation is then 6/π · arcsin(φ/2), slightly below φ).
    """
    sources = []
    for coefficient, kind in zip(phi, kinds, strict=True):
        size = rows + _BURN_IN
        noise = rng.laplace(scale=np.sqrt(0.5), size=size) if kind == "laplace" else rng.standard_normal(size)
        source = lfilter([np.sqrt(1 - coefficient**2)], [1, -coefficient], noise)[_BURN_IN:]
        sources.append((norm.cdf(source) - 0.5) * np.sqrt(12) if kind == "uniform" else source)
    return np.stack(sources, axis=1)


def mixing(dim: int, channels: int, strength: float, rng: np.random.Generator) -> Callable[[Array], Array]:
    """Draw a map from factors (T, d) to channels (T, D): rotation, leaky ReLU, tanh of projections, mixed.

    A strength of 1 bends as much as the benchmark's worlds do, towards 0 it becomes linear.
    """
    turn = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    project = rng.standard_normal((dim, channels))
    mix = rng.standard_normal((channels, channels)) / np.sqrt(channels)

    def apply(z: Array) -> Array:
        turned = z @ turn
        bent = np.where(turned > 0, turned, (1 - 0.7 * strength) * turned)
        return ((np.tanh(0.5 * strength * bent @ project) / strength) @ mix).astype(np.float32)

    return apply


def recording(
    phi: Sequence[float],
    *,
    seed: int,
    name: str,
    kinds: Sequence[Kind] | Kind = "gauss",
    rows: int = 30_000,
    channels: int = 12,
    noise: float = 0.0,
    strength: float = 1.0,
) -> Data:
    """Mix AR(1) sources; observation noise is given as a share of each channel's standard deviation."""
    own = [kinds] * len(phi) if isinstance(kinds, str) else kinds
    z = autoregressive(phi, rows, own, generator(seed, name, "sources"))
    x = mixing(len(phi), channels, strength, generator(seed, name, "mixing"))(z)
    if noise:
        drawn = generator(seed, name, "noise").standard_normal(x.shape)
        x = (x + noise * x.std(axis=0) * drawn).astype(np.float32)
    # Ranks of a Gaussian source depend on each other, but not by a quadratic form.
    truth = None if "uniform" in own else concentration_of(phi)
    return Data(x, z, None, truth, rows * 4 // 5)


def pairs(marginal: str, *, seed: int, name: str, rows: int = 30_000, channels: int = 12) -> Data:
    """Mix independent pairs with this marginal on both sides and an exactly quadratic dependence."""
    concentration = concentration_of(FIVE)
    rng = generator(seed, name, "pairs")
    drawn = [coupled_pairs(marginal, float(value), rows, rng) for value in concentration]
    z, z_pos = (np.stack(side, axis=1) for side in zip(*drawn, strict=True))
    mix = mixing(len(FIVE), channels, 1.0, generator(seed, name, "mixing"))
    return Data(mix(z), z, mix(z_pos), concentration, rows * 4 // 5)


def sphere(preset: str, *, seed: int, name: str, rows: int = 125_000) -> Data:
    """Draw the papers' own pairs: 100 000 to train on and a fifth of all for scoring."""
    from aninfonce._seeds import stream
    from aninfonce.processes import process

    world = process(preset, seed=seed)
    batch = world.sample(rows, stream(seed, "recordings", name, "pairs"))
    assert batch.z is not None
    assert world.concentration is not None
    z, truth = batch.z.numpy(), world.concentration.double().numpy()
    return Data(batch.x.numpy(), z, batch.x_pos.numpy(), truth, rows * 4 // 5)


WORLDS: dict[str, Callable[..., Data]] = {
    "ar5": partial(recording, FIVE),
    "ar5-laplace": partial(recording, FIVE, kinds="laplace"),
    "ar5-uniform": partial(recording, FIVE, kinds="uniform"),
    "ar5-40-channels": partial(recording, FIVE, channels=40),
    "ar5-noise": partial(recording, FIVE, noise=0.05),
    "ar10": partial(recording, tuple(np.linspace(0.3, 0.99, 10)), rows=60_000, channels=24),
    "shared": partial(recording, (0.6, 0.9, 0.9, 0.98), kinds=("gauss", "laplace", "laplace", "gauss")),
    "ar5-6000-rows": partial(recording, FIVE, rows=6000),
    "ar5-nearly-linear": partial(recording, FIVE, strength=0.38),
    "pairs-gauss": partial(pairs, "gauss"),
    "pairs-uniform": partial(pairs, "uniform"),
    "pairs-mixture": partial(pairs, "mixture"),
    "pairs-student": partial(pairs, "student"),
    "sphere-5-25": partial(sphere, "fig2/25"),
    "sphere-linspace": partial(sphere, "fig2/linspace"),
}


@lru_cache(maxsize=1)  # one method after the other asks for the same rows
def world(name: str, seed: int) -> Data:
    """Draw a world of the benchmark: the seed decides sources, mixing and noise."""
    if name not in WORLDS:
        raise ValueError(f"`name` must be one of {', '.join(WORLDS)}, got {name!r}")
    return WORLDS[name](seed=seed, name=name)
