"""How often the audit is alarmed where nothing is wrong.

    python -m benchmarks.alarms               # 60 clean data sets (some minutes), go on after a stop
    python -m benchmarks.alarms --show        # print what was found

A clean data set: 2000 uniform anchors on a sphere, positives from the exact conditional, the identity as
encoder, the anchors as latents and a half-space as classes. Whether one Λ is enough is asked in flat space
too, where anchors may have any law and steps are normal and alike everywhere. Seeds are none that a threshold
was ever looked at with.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import torch
from torch import Generator

from aninfonce.diagnostics import audit
from aninfonce.diagnostics.homogeneity import homogeneity
from aninfonce.diagnostics.sample import make_sample
from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.spaces import Sphere
from benchmarks.rows import FOLDER, Row, add_sweep_options, carry_out, command, read_rows
from benchmarks.timing import timed

RESULTS = FOLDER / "alarms.jsonl"
PAIRS, DIM, CONCENTRATION, FIRST_SEED = 2_000, 5, 10.0, 100_000
# Anchors in flat space, all of unit variance.
LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: rng.uniform(-(3**0.5), 3**0.5, size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
}
STEPS = np.array([0.5, 0.4, 0.3, 0.2])


def look_in_flat_space(seed: int) -> dict[str, str]:
    """Ask whether one Λ is enough, where it is: one verdict for each law of the anchors."""
    verdicts = {}
    for name, law in LAWS.items():
        # Other draws than those that once told that edges of the anchors' law passed for a Λ that varies.
        rng = np.random.default_rng(seed + 50_000)
        z = law(rng, (PAIRS, len(STEPS)))
        pairs = z, z + STEPS * rng.normal(size=z.shape)
        found = homogeneity(make_sample(lambda rows: rows, pairs, seed=seed))
        assert found is not None
        verdicts[f"homogeneity, {name} anchors in flat space"] = found.status
    return verdicts


def look(seed: int) -> Row:
    """Audit one clean data set, and take down the verdict of each finding."""
    with timed() as spent:
        generator = Generator().manual_seed(seed)
        z = Uniform(Sphere(DIM)).sample(PAIRS, generator)
        positive = FisherBingham(z, torch.full((DIM,), CONCENTRATION)).sample(generator)
        x = z.numpy()
        report = audit(
            lambda rows: rows,
            (x, positive.numpy()),
            augmentations={"shift": lambda rows: rows + 0.5},
            latents=x,
            labels=x[:, 0] > 0,
            seed=seed,
        )
        verdicts = {finding.name: finding.status for finding in report.findings} | look_in_flat_space(seed)
    return {"seed": seed, "verdicts": verdicts, "cpu_seconds": round(spent.cpu, 1)}


def main() -> int:
    parser = command(__doc__)
    parser.add_argument("--seeds", type=int, default=60, help="number of data sets")
    parser.add_argument("--show", action="store_true", help="only print what --out holds")
    add_sweep_options(parser, RESULTS, flag="--out")
    options = parser.parse_args()
    wanted = [(FIRST_SEED + place,) for place in range(options.seeds)]
    code = 0 if options.show else carry_out(options, wanted, look, ("seed",))
    rows = read_rows(options.results)
    for name in rows[0]["verdicts"] if rows else ():
        print(name, dict(Counter(row["verdicts"][name] for row in rows)))
    return code


if __name__ == "__main__":
    sys.exit(main())
