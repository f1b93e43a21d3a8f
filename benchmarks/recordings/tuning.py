"""The grids behind the settings of the two trained peers.

python -m benchmarks.recordings.tuning           every cell on seed 1000 of world `ar5`, appended as it finishes
python -m benchmarks.recordings.tuning --rats    CEBRA-Time on the spikes of `sargolini-grid` (needs `ratinabox`)
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.recordings.peers import Method, cebra_time, slow_vae_peer

RESULTS = Path(__file__).parents[1] / "results" / "recordings-tuning.jsonl"
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


# Two columns (three on its sphere) from sums over nine frames, as ours has them; and from single frames with the
# network that its authors recommend for spikes, which takes ten of them.
RAT_GRID = [
    {"seconds": seconds, "distance": distance}
    for distance, seconds in itertools.product(("cosine", "euclidean"), (0.25, 0.5, 1.0, 2.0))
] + [
    {"seconds": seconds, "frames": 1, "model_architecture": "offset10-model", "distance": distance}
    for distance, seconds in itertools.product(("cosine", "euclidean"), (0.5, 1.0))
]


def grid_rows(done: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Score the cells of `GRIDS` that are not done."""
    from aninfonce.metrics import linear_r2, mean_correlation_coefficient
    from benchmarks.recordings.worlds import world

    data = world("ar5", SEED)
    train, scored = data.x[: data.n_train], data.x[data.n_train :]
    z = data.z[data.n_train :]
    for name, (method, cells) in GRIDS.items():
        for settings in cells:
            head = {"method": name, "settings": settings}
            if head in done:
                continue
            start = time.process_time()
            embedding = method(train, None, data.dim, SEED, **settings).transform(scored)  # type: ignore[call-arg]
            yield head | {
                "r2": round(linear_r2(z, embedding).mean, 4),
                "mcc": round(mean_correlation_coefficient(z, embedding).mean, 4),
                "cpu_seconds": round(time.process_time() - start, 1),
            }


def rat_rows(done: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Score the cells of `RAT_GRID` that are not done, on blocks of time that nothing was fitted on."""
    from benchmarks.recordings.rats import cebra_on_counts, embed, readouts
    from benchmarks.recordings.sessions import session

    data = session("sargolini-grid", SEED)
    for settings in RAT_GRID:
        head = {"method": "CEBRA-Time, rats", "settings": settings}
        if head in done:
            continue
        start = time.process_time()
        found, x = cebra_on_counts(**settings)(data, SEED)
        read = readouts(embed(found, x, data), data.position, data.held_out)
        yield head | {
            **{name: sum(values) / 2 for name, values in read.items()},
            "cpu_seconds": round(time.process_time() - start, 1),
        }


def main() -> None:
    import torch

    from aninfonce._files import append_line

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rats", action="store_true", help="the grid of spikes instead")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    rows = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    done = [{key: row[key] for key in ("method", "settings")} for row in map(json.loads, rows)]
    for row in (rat_rows if chosen.rats else grid_rows)(done):
        append_line(RESULTS, json.dumps(row))
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
