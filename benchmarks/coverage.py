"""How often the 95 % intervals of Λ̂ cover the true Λ: pairs and recordings, flat and on a sphere.

    python -m benchmarks.coverage                         # what is missing of 40 repeats of each
    python -m benchmarks.coverage --repeats 100 --worlds "pairs, flat"
    python -m benchmarks.coverage --trained 10            # and of fits, without and with refits

The latents are the true ones, so that nothing but the interval is measured; Λ̂ is found as the estimator finds
it. On a sphere, a recording is a chain in which each row is drawn from the conditional at the row before it;
in flat space it is AR(1), and its time constants are looked at too. A trained embedding has errors of its
own, which its interval does not know of: `refits=2` adds what runs differ in. How evenly a chain covers its
sphere is kept beside, since the closing fits take it to be even.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Literal

import numpy as np
import torch
from scipy.signal import lfilter
from torch import Tensor

from aninfonce import ContrastiveICA, ContrastiveICAWarning
from aninfonce._seeds import derive_seed, stream
from aninfonce.diagnostics import decay_times
from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.encoders.embedding import Embedding, identity_linear
from aninfonce.estimator.describing import describe
from aninfonce.estimator.frames import Frames
from aninfonce.estimator.pairs import Pairs, lagged, paired
from aninfonce.losses import AnInfoNCE
from aninfonce.spaces import Sphere
from benchmarks.rows import FOLDER, Row, add_sweep_options, carry_out, command

RESULTS = FOLDER / "coverage.jsonl"
CONCENTRATION = torch.tensor([8.0, 20.0, 60.0, 150.0])
PHI = np.array([0.5, 0.7, 0.85, 0.95])
SIZES = (1024, 8192)
# Pairs of a fit of the estimator: the smaller number is too few for four factors.
TRAINED_SIZE = 4096
_BURN_IN = 500
_TOGETHER = 64

Array = np.ndarray


def sphere_pairs(rows: int, seed: int) -> tuple[Array, Array]:
    """Uniform anchors and a positive of each."""
    generator = stream(seed, "coverage", "pairs")
    z = Uniform(Sphere(len(CONCENTRATION))).sample(rows, generator)
    return z.numpy(), FisherBingham(z, CONCENTRATION).sample(generator).numpy()


@lru_cache(maxsize=1)
def _chains(rows: int, group: int) -> Tensor:
    """Draw as many chains as cost hardly more than one, (rows + 1, 64, d)."""
    generator = stream(group, "coverage", "recordings")
    chain = [Uniform(Sphere(len(CONCENTRATION))).sample(_TOGETHER, generator)]
    for _ in range(rows):
        chain.append(FisherBingham(chain[-1], CONCENTRATION).sample(generator))
    return torch.stack(chain)


def sphere_recording(rows: int, seed: int) -> tuple[Array, None]:
    """Rows of a chain."""
    return _chains(rows, seed // _TOGETHER)[:, seed % _TOGETHER].numpy(), None


def flat_pairs(rows: int, seed: int) -> tuple[Array, Array]:
    """Gaussian anchors of which a share is left in the positive."""
    rng = np.random.default_rng(derive_seed(seed, "coverage", "flat pairs"))
    z, noise = rng.standard_normal((2, rows, len(PHI)))
    return z, PHI * z + np.sqrt(1 - PHI**2) * noise


def flat_recording(rows: int, seed: int) -> tuple[Array, None]:
    """AR(1) factors."""
    rng = np.random.default_rng(derive_seed(seed, "coverage", "flat recording"))
    noise = rng.standard_normal((rows + _BURN_IN, len(PHI))) * np.sqrt(1 - PHI**2)
    z = [lfilter([1.0], [1.0, -phi], noise[:, k])[_BURN_IN:] for k, phi in enumerate(PHI)]
    return np.stack(z, axis=1), None


WORLDS: dict[str, Callable[[int, int], tuple[Array, Array | None]]] = {
    "pairs, flat": flat_pairs,
    "a recording, flat": flat_recording,
    "pairs, sphere": sphere_pairs,
    "a recording, sphere": sphere_recording,
}


def truth_of(world: str) -> Array:
    """Λ, ascending."""
    return np.asarray(PHI / (1 - PHI**2)) if world.endswith("flat") else CONCENTRATION.double().numpy()


def of_latents(world: str, rows: int, seed: int) -> Row:
    """Intervals of the true latents, as if an encoder had found them."""
    flat = world.endswith("flat")
    z, z_pos = WORLDS[world](rows, seed)
    # The estimator's columns have unit variance on the rows at hand, not in truth.
    scale = z.std(axis=0) if flat else 1.0
    frames = Frames((z / scale).astype(np.float32), np.zeros(len(z), dtype=np.intp))
    pairs: Pairs = lagged(frames, 1) if z_pos is None else paired(frames, (z_pos / scale).astype(np.float32))
    dim = z.shape[1]
    found = describe(
        Embedding(identity_linear(dim), torch.nn.Identity()),
        AnInfoNCE(dim, normalize=False),
        [pairs],
        pairs,
        seed,
        flat=flat,
        sort=False,
    )
    return _row(world, "true latents", rows, seed, found.values[0], found.interval[0])


def evenness(world: str, rows: int, seed: int) -> Row:
    """Second moments of the latents times d: 1 for each column if they cover their sphere evenly."""
    z = WORLDS[world](rows, seed)[0]
    moments = (z.shape[1] * (z**2).mean(axis=0)).round(4).tolist()
    return {"world": world, "columns": "evenness", "rows": rows, "seed": seed, "moments": moments}


def of_times(world: str, rows: int, seed: int) -> Row:
    """Intervals of the time constants of the true latents."""
    found = decay_times(WORLDS[world](rows, seed)[0])
    return _row(world, "times of true latents", rows, seed, found[:, 0], found[:, 1:], -1 / np.log(PHI))


def of_fitted_times(world: str, rows: int, seed: int) -> Row:
    """Intervals of the time constants of a trained embedding."""
    model = fitted(world, rows, seed, 0)
    times, ends = model.time_constants_, model.time_constants_interval_
    assert times is not None
    assert ends is not None
    return _row(world, "times, trained", rows, seed, times, ends, -1 / np.log(PHI))


def of_fit(world: str, rows: int, seed: int, refits: int) -> Row:
    """Intervals of Λ̂ of a trained embedding."""
    model = fitted(world, rows, seed, refits)
    kind = f"trained, refits={refits}"
    return _row(world, kind, rows, seed, model.concentration_, model.concentration_interval_)


def fitted(world: str, rows: int, seed: int, refits: int) -> ContrastiveICA:
    """Fit the estimator to the latents of a world, seen through a tanh of a rotation."""
    z, z_pos = WORLDS[world](rows, seed)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((z.shape[1], z.shape[1])))[0]
    space: Literal["flat", "sphere"] = "flat" if world.endswith("flat") else "sphere"
    model = ContrastiveICA(z.shape[1], space=space, refits=refits, random_state=seed, device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContrastiveICAWarning)
        return model.fit(
            np.tanh(0.5 * z @ turn), X_pos=None if z_pos is None else np.tanh(0.5 * z_pos @ turn)
        )


def _row(
    world: str, kind: str, rows: int, seed: int, values: Array, interval: Array, truth: Array | None = None
) -> Row:
    truth = truth_of(world) if truth is None else truth
    order = np.argsort(values)
    low, high = interval[order].T
    return {
        "world": world,
        "columns": kind,
        "rows": rows,
        "seed": seed,
        "covered": ((low < truth) & (truth < high)).tolist(),
        "ratio": (values[order] / truth).round(4).tolist(),
        "width": round(float(np.mean(np.log(high / np.maximum(low, 1e-9)))), 4),
    }


# Columns whose intervals are looked at: what they are called in the rows, and what makes such a row.
COLUMNS: dict[str, Callable[[str, int, int], Row]] = {
    "true latents": of_latents,
    "times of true latents": of_times,
    "times, trained": of_fitted_times,
    "evenness": evenness,
    "trained, refits=0": partial(of_fit, refits=0),
    "trained, refits=2": partial(of_fit, refits=2),
}
# Of these, only recordings of one kind have any.
_ONLY = {
    "times of true latents": "a recording, flat",
    "times, trained": "a recording, flat",
    "evenness": "a recording, sphere",
}


def run(world: str, columns: str, rows: int, seed: int) -> Row:
    """Draw a world and look at intervals."""
    torch.set_num_threads(1)
    return COLUMNS[columns](world, rows, seed)


def main() -> int:
    parser = command(__doc__)
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--repeats", type=int, default=40, help="of true latents")
    parser.add_argument("--trained", type=int, default=0, help="repeats of fits")
    add_sweep_options(parser, RESULTS)
    options = parser.parse_args()
    untrained = ("true latents", "times of true latents")
    wanted = [
        (world, columns, rows, seed)
        for world in options.worlds
        for chosen, sizes, repeats in (
            (untrained, SIZES, options.repeats),
            ([name for name in COLUMNS if name not in untrained], (TRAINED_SIZE,), options.trained),
        )
        for rows in sizes
        for seed in range(repeats)
        for columns in chosen
        if _ONLY.get(columns, world) == world
    ]
    return carry_out(options, wanted, run, ("world", "columns", "rows", "seed"))


if __name__ == "__main__":
    sys.exit(main())
