"""Where is the rat? Position read from embeddings of noisy spike counts, on blocks of time nothing saw.

python -m benchmarks.recordings.rats [--worlds ...] [--methods ...] [--seeds 5] [--dry-run] [--show]

Needs `ratinabox` (and `umap-learn` for UMAP): `pip install "aninfonce[bench]"`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.recordings.peers import Found, cebra_time, ours, pca
from benchmarks.recordings.run import NAMES, cells, parser
from benchmarks.recordings.sessions import CASES, Session, session
from benchmarks.rows import FOLDER, Row, carry_out, read_rows
from benchmarks.timing import timed

RESULTS = FOLDER / "recordings-rats.jsonl"
Array = npt.NDArray[np.floating]

# Rows to learn neighbours and UMAP from, and to score on, at most: Tanni's 73 000 frames would take hours.
_MOST = 12_000


def _summed(**settings: Any) -> Any:
    """Ours on counts summed over nine frames; no label is used, not even for the lag."""

    def fit(data: Session, seed: int) -> tuple[Found, Array]:
        x = data.summed()
        return _ours(x, data, seed, **settings), x

    return fit


def _ours(x: Array, data: Session, seed: int, dim: int = 2, **settings: Any) -> Found:
    """Two columns if nothing else is said; a third of the noisy channels is left out in each step."""
    train = ~data.held_out
    shared = {"lag": "auto", "input_dropout": 0.3, "groups": data.block[train]}
    return ours(x[train], None, dim, seed, **{**shared, **settings})


def _window(data: Session, seed: int) -> tuple[Found, Array]:
    """Ours on single frames, with a window of nine of them as the encoder's input."""
    return _ours(data.counts, data, seed, window=9, start="geodesic"), data.counts


def _raw(frames: int) -> Any:
    """No embedding: all cells."""

    def fit(data: Session, seed: int) -> tuple[Found, Array]:
        return Found(lambda rows: rows), data.summed(frames)

    return fit


def _pca(dim: int) -> Any:
    def fit(data: Session, seed: int) -> tuple[Found, Array]:
        x = data.summed()
        return pca(x[~data.held_out], None, dim, seed), x

    return fit


def cebra_on_counts(seconds: float, frames: int = 9, **settings: Any) -> Any:
    """CEBRA-Time on sums of so many frames; it has no groups, so a few pairs cross a border between blocks.

    Args:
        seconds: between the rows of a pair.
        frames: that counts are summed over; 1 for networks that take a window of frames themselves.
        settings: more of CEBRA's own.

    Returns:
        A method.

    """

    def fit(data: Session, seed: int) -> tuple[Found, Array]:
        x, offset = data.summed(frames), round(seconds / data.frame)
        scaled = x / np.maximum(x[~data.held_out].std(axis=0), 1e-6)
        return cebra_time(scaled[~data.held_out], None, 2, seed, time_offsets=offset, **settings), scaled

    return fit


def _umap(dim: int) -> Any:
    def fit(data: Session, seed: int) -> tuple[Found, Array]:
        from umap import UMAP

        x = data.summed()
        train = every(x[~data.held_out], _MOST)
        model = UMAP(n_components=dim, random_state=seed % 2**32, n_jobs=1).fit(train)
        return Found(model.transform), x

    return fit


def _isomap(transform: Callable[[Array], Array]) -> Any:
    """scikit-learn's Isomap at its own settings, with paths between about 2500 rows."""

    def fit(data: Session, seed: int) -> tuple[Found, Array]:
        from sklearn.manifold import Isomap

        x = transform(data.summed())
        with warnings.catch_warnings():
            # A graph in pieces is joined by scikit-learn, which warns.
            warnings.simplefilter("ignore")
            model = Isomap(n_neighbors=5, n_components=2).fit(every(x[~data.held_out], 2500))
        return Found(model.transform), x

    return fit


METHODS: dict[str, Callable[[Session, int], tuple[Found, Array]]] = {
    "ours": _summed(start="geodesic"),
    "ours, random start": _summed(),
    "ours, window": _window,
    "ours, three lags": _summed(start="geodesic", lag=(9, 18, 36)),
    "ours, 4 columns": _summed(start="geodesic", dim=4),
    "all cells": _raw(9),
    "all cells, one frame": _raw(1),
    "PCA, 2 columns": _pca(2),
    "PCA, 4 columns": _pca(4),
    "Isomap, 2 columns": _isomap(lambda counts: counts),
    "Isomap of √counts": _isomap(np.sqrt),
    "UMAP, 2 columns": _umap(2),
    "CEBRA-Time, 2 columns": cebra_on_counts(1.0, distance="euclidean"),
    "CEBRA-Time, 3 columns": cebra_on_counts(1.0, distance="cosine"),
}


def every(rows: Array, most: int) -> Array:
    """Take evenly spaced rows, about `most` at most."""
    return rows[:: max(1, -(-len(rows) // most))]


def readouts(z: Array, truth: Array, held_out: npt.NDArray[np.bool_]) -> dict[str, list[float]]:
    """Read columns of the truth from an embedding, learned on training blocks, scored on the others.

    Args:
        z: embedding (T, k).
        truth: (T, m).
        held_out: rows to score on.

    Returns:
        R² of each column by ridge regression ("linear") and by ten nearest neighbours ("neighbours").

    """
    from sklearn.linear_model import RidgeCV
    from sklearn.metrics import r2_score
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(z[~held_out])
    fitted, scored = (every(scaler.transform(z[part]), _MOST) for part in (~held_out, held_out))
    known, asked = (every(truth[part], _MOST) for part in (~held_out, held_out))
    answers = {
        "linear": RidgeCV(np.logspace(-3, 4, 8)).fit(fitted, known).predict(scored),
        "neighbours": KNeighborsRegressor(10).fit(fitted, known).predict(scored),
    }
    return {
        name: [round(float(value), 4) for value in r2_score(asked, answer, multioutput="raw_values")]
        for name, answer in answers.items()
    }


def embed(found: Found, x: Array, data: Session) -> Array:
    """Embed block by block: a window of frames must not look across a border."""
    return np.concatenate([found.transform(x[data.block == number]) for number in np.unique(data.block)])


def run_rat(case: str, method: str, seed: int) -> Row:
    """Fit one method on the training blocks of one session and read the position on the others."""
    import torch

    from aninfonce._seeds import derive_seed

    torch.set_num_threads(1)
    data = session(case, seed)
    with timed() as spent:
        found, x = METHODS[method](data, derive_seed(seed, "rats", method) % 2**31)
    z = embed(found, x, data)
    read = readouts(z, data.position, data.held_out)
    row: Row = {
        "world": case,
        "method": method,
        "seed": seed,
        **{
            f"{name}_{axis}": value
            for name, pair in read.items()
            for axis, value in zip("xy", pair, strict=True)
        },
        "columns": int(z.shape[1]),
        "cpu_seconds": round(spent.cpu, 2),
        "seconds": round(spent.wall, 2),
        **(found.facts or {}),
    }
    if CASES[case].head:
        # A direction is a point on a circle: the mean of its two coordinates.
        direction = np.stack([np.cos(data.heading), np.sin(data.heading)], axis=1)
        circle = readouts(z, direction, data.held_out)
        row |= {f"{name}_heading": round(float(np.mean(pair)), 4) for name, pair in circle.items()}
    return row


def main(arguments: Sequence[str] | None = None) -> int:
    from benchmarks.recordings.tables import rats

    chosen = parser(list(CASES), list(METHODS), 5, RESULTS).parse_args(arguments)
    if chosen.show:
        print(rats(read_rows(chosen.results)))
        return 0
    wanted = cells(chosen.worlds, chosen.methods, chosen.seeds, lambda name: False)
    return carry_out(chosen, wanted, run_rat, NAMES)


if __name__ == "__main__":
    sys.exit(main())
