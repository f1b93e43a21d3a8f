"""Every method of the benchmark, ours among them, as one function of the training rows.

Settings of the two trained peers were chosen on seed 1000 of world `ar5`, which is scored nowhere else, by R²
with the truth (more than any user has): `python -m benchmarks.recordings.tuning` prints the grids.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aninfonce_papers.beyond.cebra_time import fit_cebra
from benchmarks.recordings.linear import Transform, amuse, slow_features, sobi
from benchmarks.recordings.slow_vae import slow_vae

Array = npt.NDArray[np.floating]

# Iterations that take about as long as ours on world `ar5`.
CEBRA_SETTINGS: dict[str, Any] = {
    "distance": "euclidean",
    "time_offsets": 10,
    "temperature_mode": "auto",
    "max_iterations": 5000,
}
SLOW_VAE_SETTINGS: dict[str, Any] = {"gamma": 1.0, "deviation": 0.3}


@dataclass(frozen=True)
class Found:
    """What a method found.

    Attributes:
        transform: from rows to an embedding (N, k).
        concentration: Λ̂ in the order of the columns, of methods that have one.
        facts: more to keep in the row of results.

    """

    transform: Transform
    concentration: Array | None = None
    facts: dict[str, Any] | None = None


Method = Callable[[Array, Array | None, int, int], Found]


def ours(x: Any, x_pos: Array | None, dim: int, seed: int, groups: Any = None, **settings: Any) -> Found:
    """`ContrastiveICA` with its defaults, and what a world asks for.

    Args:
        x: rows (N, D).
        x_pos: positives; None for a recording.
        dim: number of components.
        seed: `random_state`.
        groups: (N,) labels of the recordings in x.
        settings: of the constructor, or else of `fit`.

    Returns:
        The fitted map, Λ̂, the space, steps and bits on held-out pairs.

    """
    from aninfonce import ContrastiveICA

    settings = {"space": "auto", **settings}
    constructor = ContrastiveICA().get_params()
    # What the constructor does not know, `fit` may: the lag was its argument first.
    given = {"X_pos": x_pos, "groups": groups} | {k: v for k, v in settings.items() if k not in constructor}
    own = {name: value for name, value in settings.items() if name in constructor}
    model = ContrastiveICA(n_components=dim, random_state=seed, **own)
    model.fit(x, **{name: value for name, value in given.items() if value is not None})
    facts: dict[str, Any] = {"space": str(model.space_), "steps": int(model.n_iter_)}
    if len(model.held_out_curve_):
        facts["bits"] = round(float(np.max(model.held_out_curve_)), 4)
    if model.lag_ is not None:
        facts["lag"] = np.asarray(model.lag_).tolist()
    if model.start_residual_ is not None:
        facts["residual"] = round(model.start_residual_, 4)
    return Found(model.transform, np.asarray(model.concentration_), facts)


def pca(x: Array, x_pos: Array | None, dim: int, seed: int) -> Found:
    """Leading principal components."""
    from sklearn.decomposition import PCA

    return Found(PCA(dim, random_state=seed % 2**32).fit(x).transform)


def fast_ica(x: Array, x_pos: Array | None, dim: int, seed: int) -> Found:
    """scikit-learn's FastICA; it takes the rows as independent draws."""
    from sklearn.decomposition import FastICA

    model = FastICA(dim, random_state=seed % 2**32, max_iter=1000, whiten="unit-variance").fit(x)
    return Found(model.transform, facts={"steps": int(model.n_iter_)})


def cebra_time(x: Array, x_pos: Array | None, dim: int, seed: int, **settings: Any) -> Found:
    """CEBRA-Time at its recommended settings but for those of `CEBRA_SETTINGS`."""
    model = fit_cebra(x, dim, seed, **{**CEBRA_SETTINGS, **settings})
    return Found(lambda rows: model.transform(np.asarray(rows, np.float32)))


def slow_vae_peer(x: Array, x_pos: Array | None, dim: int, seed: int, **settings: Any) -> Found:
    """SlowVAE on rows and the next ones."""
    first, second = (x[:-1], x[1:]) if x_pos is None else (x, x_pos)
    return Found(slow_vae(first, second, dim, seed=seed, **{**SLOW_VAE_SETTINGS, **settings}))


METHODS: dict[str, Method] = {
    "ours": ours,
    "PCA": pca,
    "FastICA": fast_ica,
    "AMUSE": lambda x, x_pos, dim, seed: Found(amuse(x, dim, x_pos)),
    "SOBI": lambda x, x_pos, dim, seed: Found(sobi(x, dim)),
    "SFA": lambda x, x_pos, dim, seed: Found(slow_features(x, dim, x_pos)),
    "SFA, quadratic": lambda x, x_pos, dim, seed: Found(slow_features(x, dim, x_pos, quadratic=True)),
    "CEBRA-Time": cebra_time,
    "SlowVAE": slow_vae_peer,
}
# Made for recordings: independent pairs have no order of time.
NEEDS_TIME = ("SOBI", "CEBRA-Time")
