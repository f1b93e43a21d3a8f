"""Few pairs and many steps: how far `max_steps=2000` ends below the best of shorter runs, on fresh rows.

    python -m benchmarks.few_pairs                    # what is missing of eight seeds in each space
    python -m benchmarks.few_pairs --seeds 0 1 --spaces flat

One seed in one space takes about two minutes; rows go to benchmarks/results/few_pairs.jsonl.

2000 pairs of three factors, on a sphere and in flat space, seen through a tanh that bends them a little. R²
is that of a linear readout on 4000 other rows; beside it the R² of the rows as they are, which is what a
linear map has.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from aninfonce import ContrastiveICA, ContrastiveICAWarning
from aninfonce._seeds import derive_seed
from aninfonce.metrics import linear_r2
from benchmarks.rows import FOLDER, Row, add_sweep_options, carry_out, command
from benchmarks.timing import timed

Array = npt.NDArray[np.floating]

RESULTS = FOLDER / "few_pairs.jsonl"
PAIRS, FRESH, FACTORS = 2000, 4000, 3
STEPS = (100, 200, 400, 1000, 2000)
SPACES = ("sphere", "flat")
# What a factor moves by within a pair on the sphere, and what is left of it in flat space.
_STEP, _LEFT = np.array([0.1, 0.3, 0.6]), np.array([0.99, 0.9, 0.6])


def draw(space: str, seed: int) -> tuple[Array, Array, Array]:
    """Draw factors (n, 3) and what is seen of them and of their positives, both (n, 3)."""
    rng = np.random.default_rng(derive_seed(seed, "few pairs", space))
    z, noise = rng.normal(size=(2, PAIRS + FRESH, FACTORS))
    mixing = np.linalg.qr(rng.normal(size=(FACTORS, FACTORS)))[0]
    if space == "sphere":
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        z_pos = z + _STEP * noise
        z_pos /= np.linalg.norm(z_pos, axis=1, keepdims=True)
        return z, np.tanh(z @ mixing), np.tanh(z_pos @ mixing)
    z_pos = _LEFT * z + np.sqrt(1 - _LEFT**2) * noise
    return z, np.tanh(0.5 * z @ mixing), np.tanh(0.5 * z_pos @ mixing)


def recovered(space: str, seed: int, steps: Sequence[int] = STEPS) -> tuple[float, dict[int, float]]:
    """Fit with each number of steps.

    Args:
        space: one of `SPACES`.
        seed: of the pairs and of the weights.
        steps: values of `max_steps`.

    Returns:
        R² of the rows themselves, and of each fit, on fresh rows.

    """
    z, x, x_pos = draw(space, seed)
    found = {}
    for number in steps:
        model = ContrastiveICA(FACTORS, max_steps=number, random_state=seed, device="cpu")
        with warnings.catch_warnings():
            # Steps that are thrown away are what this is about.
            warnings.simplefilter("ignore", ContrastiveICAWarning)
            model.fit(x[:PAIRS], X_pos=x_pos[:PAIRS])
        found[number] = linear_r2(z[PAIRS:], model.transform(x[PAIRS:])).mean
    return linear_r2(z[PAIRS:], x[PAIRS:]).mean, found


def look(space: str, seed: int) -> Row:
    """Take down one seed in one space."""
    torch.set_num_threads(1)
    with timed() as spent:
        linear, found = recovered(space, seed)
    return {
        "space": space,
        "seed": seed,
        "linear": round(linear, 5),
        "r2": {str(steps): round(value, 5) for steps, value in found.items()},
        "gap": round(max(found.values()) - found[STEPS[-1]], 5),
        "cpu_seconds": round(spent.cpu, 1),
    }


def main() -> int:
    parser = command(__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(8)))
    parser.add_argument("--spaces", nargs="+", choices=SPACES, default=list(SPACES))
    add_sweep_options(parser, RESULTS)
    options = parser.parse_args()
    wanted = [(space, seed) for seed in options.seeds for space in options.spaces]
    return carry_out(options, wanted, look, ("space", "seed"))


if __name__ == "__main__":
    sys.exit(main())
