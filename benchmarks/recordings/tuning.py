"""The grids behind the settings of the two trained peers.

python -m benchmarks.recordings.tuning    every cell on seed 1000 of world `ar5`, appended as it finishes
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

from benchmarks.recordings.peers import Method, cebra_time, slow_vae_peer
from benchmarks.rows import FOLDER, Row, add_sweep_options, carry_out, command
from benchmarks.timing import timed

RESULTS = FOLDER / "recordings-tuning.jsonl"
# No row of the benchmark has this seed.
SEED = 1000

GRIDS: dict[str, tuple[Method, list[dict[str, Any]]]] = {
    "CEBRA-Time": (
        cebra_time,
        [
            {"distance": distance, "time_offsets": offset, "temperature_mode": mode}
            for distance, offset, mode in itertools.product(
                ("cosine", "euclidean"), (1, 10), ("constant", "auto")
            )
        ]
        # A wider network than its default of 32 units, for the better half of the above.
        + [
            {"distance": distance, "time_offsets": 10, "temperature_mode": "auto", "num_hidden_units": 128}
            for distance in ("cosine", "euclidean")
        ],
    ),
    "SlowVAE": (
        slow_vae_peer,
        [
            {"gamma": gamma, "deviation": deviation}
            for gamma, deviation in itertools.product((1.0, 10.0), (0.03, 0.1, 0.3, 1.0))
        ],
    ),
}


def run(name: str, settings: dict[str, Any]) -> Row:
    """Train a peer with some settings, and compare with the truth."""
    import torch

    from aninfonce.metrics import linear_r2, mean_correlation_coefficient
    from benchmarks.recordings.worlds import world

    torch.set_num_threads(1)
    data = world("ar5", SEED)
    train, scored = data.x[: data.n_train], data.x[data.n_train :]
    z = data.z[data.n_train :]
    with timed() as spent:
        embedding = GRIDS[name][0](train, None, data.dim, SEED, **settings).transform(scored)  # type: ignore[call-arg]
    return {
        "method": name,
        "settings": settings,
        "r2": round(linear_r2(z, embedding).mean, 4),
        "mcc": round(mean_correlation_coefficient(z, embedding).mean, 4),
        "cpu_seconds": round(spent.cpu, 1),
    }


def main() -> int:
    parser = command(__doc__)
    add_sweep_options(parser, RESULTS)
    wanted = [(name, settings) for name, (_, grid) in GRIDS.items() for settings in grid]
    return carry_out(parser.parse_args(), wanted, run, ("method", "settings"))


if __name__ == "__main__":
    sys.exit(main())
