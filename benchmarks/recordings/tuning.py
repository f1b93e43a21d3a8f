"""The grids behind the settings of the two trained peers.

python -m benchmarks.recordings.tuning    every cell on seed 1000 of world `ar5`, appended as it finishes
"""

from __future__ import annotations

import itertools
import json
import time
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


def main() -> None:
    import torch

    from aninfonce._files import append_line
    from aninfonce.metrics import linear_r2, mean_correlation_coefficient
    from benchmarks.recordings.worlds import world

    torch.set_num_threads(1)
    data = world("ar5", SEED)
    train, scored = data.x[: data.n_train], data.x[data.n_train :]
    z = data.z[data.n_train :]
    rows = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    done = [{key: row[key] for key in ("method", "settings")} for row in map(json.loads, rows)]
    for name, (method, cells) in GRIDS.items():
        for settings in cells:
            if {"method": name, "settings": settings} in done:
                continue
            start = time.process_time()
            embedding = method(train, None, data.dim, SEED, **settings).transform(scored)  # type: ignore[call-arg]
            row = {
                "method": name,
                "settings": settings,
                "r2": round(linear_r2(z, embedding).mean, 4),
                "mcc": round(mean_correlation_coefficient(z, embedding).mean, 4),
                "cpu_seconds": round(time.process_time() - start, 1),
            }
            append_line(RESULTS, json.dumps(row))
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
