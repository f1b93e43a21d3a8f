"""How often the 95 % intervals of Λ̂ cover the true Λ, on true latents: independent pairs and recordings.

    python -m benchmarks.coverage                         # 60 repeats of each, some minutes
    python -m benchmarks.coverage --repeats 24 --rows 512

A recording is a chain on the sphere: each row is drawn from the conditional at the row before it.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch

from aninfonce._seeds import stream
from aninfonce.diagnostics import fit_concentration
from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.estimator.frames import Frames
from aninfonce.estimator.pairs import Pairs, lagged, paired
from aninfonce.spaces import Sphere

CONCENTRATION = torch.tensor([8.0, 20.0, 60.0, 150.0])
DIM = len(CONCENTRATION)


def independent(repeats: int, rows: int) -> list[Pairs]:
    """Uniform anchors and a positive of each."""
    generator = stream(0, "coverage", "pairs")
    found = []
    for _ in range(repeats):
        z = Uniform(Sphere(DIM)).sample(rows, generator)
        found.append(paired(_frames(z), FisherBingham(z, CONCENTRATION).sample(generator).numpy()))
    return found


def _frames(z: torch.Tensor) -> Frames:
    return Frames(z.numpy(), np.zeros(len(z), dtype=np.intp))


def recordings(repeats: int, rows: int) -> list[Pairs]:
    """Pairs of neighbouring rows, `lag=1`, as `ContrastiveICA.fit(X)` makes them."""
    generator = stream(0, "coverage", "recordings")
    chain = [Uniform(Sphere(DIM)).sample(repeats, generator)]
    for _ in range(rows):
        chain.append(FisherBingham(chain[-1], CONCENTRATION).sample(generator))
    return [lagged(_frames(z), 1) for z in torch.stack(chain).unbind(dim=1)]


def coverage(repeats: list[Pairs]) -> tuple[np.ndarray, np.ndarray]:
    """Share of the repeats that cover each Λ, and the mean of Λ̂."""
    truth, covered, values = CONCENTRATION.numpy(), [], []
    for seed, pairs in enumerate(repeats):
        z, z_pos = torch.from_numpy(pairs.x), torch.from_numpy(pairs.x_pos)
        fit = fit_concentration(z, z_pos, clusters=pairs.clusters, apart=pairs.apart, seed=seed)
        low, high = fit.interval.T
        covered.append((low < truth) & (truth < high))
        values.append(fit.values)
    return np.mean(covered, axis=0), np.mean(values, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--rows", type=int, nargs="+", default=[1024, 8192], help="pairs of a repeat")
    options = parser.parse_args()
    for rows in options.rows:
        for draw in (independent, recordings):
            shares, means = coverage(draw(options.repeats, rows))
            print(f"{draw.__name__}, {rows} pairs, {options.repeats} repeats: {shares.mean():.1%} covered")
            print(
                f"  by column {shares.round(2)}; mean Λ̂ {means.round(1)} of {CONCENTRATION.numpy()}",
                flush=True,
            )


if __name__ == "__main__":
    main()
