"""How often the audit finds what is wrong.

    python -m benchmarks.power               # 20 seeds of each violation (some minutes), go on after a stop
    python -m benchmarks.power --show        # print what was found

Each case is 2000 pairs with one violation, and the finding that should see it. Its seeds are none that a
threshold was ever looked at with.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Generator

from aninfonce.diagnostics.audit import FINDINGS
from aninfonce.diagnostics.sample import make_sample
from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.spaces import Sphere
from benchmarks.alarms import CONCENTRATION, DIM, PAIRS
from benchmarks.rows import FOLDER, Row, add_sweep_options, carry_out, command, read_rows

RESULTS = FOLDER / "power.jsonl"
FIRST_SEED = 200_000
BY_NAME = {look.__name__: look for look in FINDINGS}

Rows = np.ndarray[Any, np.dtype[np.float64]]
Pairs = tuple[Rows, Rows]


@dataclass(frozen=True)
class Case:
    """A violation, and the finding that should see it."""

    finding: str
    draw: Callable[[int], Pairs]
    encoder: Callable[[Rows], Rows] = lambda rows: rows
    known: Callable[[Rows, int], dict[str, Any]] = field(default=lambda x, seed: {})


def sphere(*concentration: float) -> Callable[[int], Pairs]:
    """Draw uniform anchors and exact positives."""
    values = torch.tensor(concentration or [CONCENTRATION] * DIM)

    def draw(seed: int) -> Pairs:
        generator = Generator().manual_seed(seed)
        z = Uniform(Sphere(len(values))).sample(PAIRS, generator)
        return z.double().numpy(), FisherBingham(z, values).sample(generator).double().numpy()

    return draw


def flat(steps: Callable[[np.random.Generator, tuple[int, int]], Rows]) -> Callable[[int], Pairs]:
    """Draw normal anchors in flat space, and steps of another law than the normal one."""

    def draw(seed: int) -> Pairs:
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(PAIRS, DIM))
        return z, z + 0.3 * steps(rng, z.shape)

    return draw


def noise_column(seed: int) -> Pairs:
    """Add a sixth column that pairs do not share."""
    (z, z_pos), noise = sphere()(seed), 0.5 * np.random.default_rng(seed).normal(size=(2, PAIRS, 1))
    return np.c_[z, noise[0]], np.c_[z_pos, noise[1]]


def broken(seed: int) -> Pairs:
    """Give each observation the positive of another."""
    z, z_pos = sphere()(seed)
    return z, np.roll(z_pos, 1, axis=0)


def shifted(seed: int) -> Pairs:
    """Move all positives one way."""
    z, z_pos = sphere()(seed)
    return z, z_pos + 0.3


def on_sphere(change: Callable[[Rows], Rows]) -> Callable[[Rows], Rows]:
    """Make an encoder that changes rows, and then brings them to length 1."""

    def encode(rows: Rows) -> Rows:
        changed = change(rows)
        return changed / np.linalg.norm(changed, axis=1, keepdims=True)

    return encode


def added_noise(size: float) -> Callable[[Rows, int], dict[str, Any]]:
    """Augment by noise of a standard deviation."""

    def known(x: Rows, seed: int) -> dict[str, Any]:
        noise = size * np.random.default_rng(seed).normal(size=x.shape)
        return {"augmentations": {"noise": lambda rows: rows + noise}}

    return known


def by_place(factor: float) -> Callable[[int], Pairs]:
    """Let Λ change by a factor from one end of the first latent to the other, up in some, down in others."""

    def draw(seed: int) -> Pairs:
        rng = np.random.default_rng(seed)
        z = rng.uniform(-(3**0.5), 3**0.5, size=(PAIRS, 4))
        rises = np.array([1.0, -1.0, 1.0, -1.0])
        values = np.array([4.0, 8.0, 16.0, 32.0]) * factor ** (rises * z[:, :1] / (2 * 3**0.5))
        return z, z + rng.normal(size=z.shape) / np.sqrt(values)

    return draw


def bent(rows: Rows) -> Rows:
    """Put flat rows onto a sphere of one column more: steps that are alike become unlike."""
    lifted = np.c_[rows, np.ones(len(rows))]
    return lifted / np.linalg.norm(lifted, axis=1, keepdims=True)


def two_sizes(rng: np.random.Generator, shape: tuple[int, int]) -> Rows:
    return rng.normal(size=shape) * np.where(rng.random((shape[0], 1)) < 0.5, 0.2, 2.5)


def two_modes(rng: np.random.Generator, shape: tuple[int, int]) -> Rows:
    side = np.where(rng.random((shape[0], 1)) < 0.5, 1.0, -1.0)
    return 0.3 * rng.normal(size=shape) + side * np.eye(DIM)[0]


AXIS = np.eye(DIM)[0]
CASES = {
    "two of five latents left out": Case(
        "identifiability", sphere(), lambda rows: rows[:, :3], lambda x, seed: {"latents": x}
    ),
    "the latent that decides the class left out": Case(
        "classes", sphere(), lambda rows: rows[:, 1:], lambda x, seed: {"labels": x[:, 0] > 0}
    ),
    "noise of 0.35 on five columns, one is kept: four fifths are lost": Case(
        "readout", sphere(), lambda rows: rows[:, :1], added_noise(0.35)
    ),
    "noise of 1 on five columns, one is kept: hardly more than half is lost": Case(
        "readout", sphere(), lambda rows: rows[:, :1], added_noise(1.0)
    ),
    "a constant": Case("collapse", sphere(), np.ones_like),
    "two of five columns of any width": Case(
        "collapse", sphere(), lambda rows: rows * [1.0, 1.0, 0.01, 0.01, 0.01]
    ),
    "Λ of 5 and 25": Case("spectrum", sphere(5.0, 5.0, 5.0, 25.0, 25.0)),
    "Λ of 5 and 10": Case("spectrum", sphere(5.0, 5.0, 5.0, 10.0, 10.0)),
    "a column that pairs do not share": Case("spectrum", noise_column),
    "pairs that all but coincide (Λ = 1e5)": Case("overlap", sphere(*[1e5] * DIM)),
    "positives of other observations": Case("overlap", broken),
    "one side of the sphere": Case("uniformity", sphere(), on_sphere(lambda rows: rows + 0.3 * AXIS)),
    "one axis twice as wide": Case("uniformity", sphere(), on_sphere(lambda rows: rows * (1 + AXIS))),
    "Laplace steps": Case("conditional", flat(lambda rng, shape: rng.laplace(size=shape))),
    "steps of two modes": Case("conditional", flat(two_modes)),
    "Λ that changes 2-fold along a latent": Case("homogeneity", by_place(2.0)),
    "Λ that changes 4-fold along a latent": Case("homogeneity", by_place(4.0)),
    "Λ that changes 16-fold along a latent": Case("homogeneity", by_place(16.0)),
    "one Λ in flat space, seen from a sphere": Case("homogeneity", by_place(1.0), bent),
    "positives moved by 0.3": Case("shift", shifted),
    "steps of two sizes": Case("calibration", flat(two_sizes)),
}


def look(name: str, seed: int) -> Row:
    """Take down the verdict on one violation."""
    case = CASES[name]
    x, x_pos = case.draw(seed)
    found = BY_NAME[case.finding](make_sample(case.encoder, (x, x_pos), **case.known(x, seed), seed=seed))
    assert found is not None
    return {"case": name, "finding": case.finding, "seed": seed, "verdict": found.status}


def main() -> int:
    parser = command(__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="number of data sets a violation")
    parser.add_argument("--show", action="store_true", help="only print what --out holds")
    add_sweep_options(parser, RESULTS, flag="--out")
    options = parser.parse_args()
    wanted = [(name, FIRST_SEED + place) for name in CASES for place in range(options.seeds)]
    code = 0 if options.show else carry_out(options, wanted, look, ("case", "seed"))
    rows = read_rows(options.results)
    for name in dict.fromkeys(row["case"] for row in rows):
        print(name, dict(Counter(row["verdict"] for row in rows if row["case"] == name)))
    return code


if __name__ == "__main__":
    sys.exit(main())
