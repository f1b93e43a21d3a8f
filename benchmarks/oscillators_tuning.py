"""The grid behind CEBRA's settings in the study `oscillators`, on its rotating sources.

python -m benchmarks.oscillators_tuning            every cell on seed 1000, appended as it finishes
python -m benchmarks.oscillators_tuning --most 1   the next that has no row
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from aninfonce.extending import append_line
from aninfonce.metrics import linear_r2
from aninfonce_papers.beyond.cebra_time import cebra_time, grid
from aninfonce_papers.beyond.oscillators import TurningPairs
from aninfonce_papers.engine import find_study

RESULTS = Path(__file__).parent / "results" / "oscillators-tuning.jsonl"
# No row of the study has this seed.
SEED = 1000
_CELL = "rotating: CEBRA-Time"


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, help="cells to run before it ends")
    left = parser.parse_args().most
    torch.set_num_threads(1)
    done = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    (cell,) = (one for one in find_study("oscillators").experiments("laptop") if one.name == _CELL)
    pairs = cell.pairs
    assert isinstance(pairs, TurningPairs)
    recording = pairs.open(SEED)
    for settings in grid(recording.lag):
        row = {"world": "rotating", "settings": settings.model_dump()}
        if any(row.items() <= json.loads(line).items() for line in done):
            continue
        if left == 0:
            return
        left = None if left is None else left - 1
        start = time.process_time()
        e = cebra_time(recording.x, pairs.rows, recording.z.shape[1], SEED, settings)[pairs.rows :]
        row["r2"] = round(linear_r2(recording.z[pairs.rows :], e).mean, 4)
        row["cpu_seconds"] = round(time.process_time() - start, 1)
        append_line(RESULTS, json.dumps(row, ensure_ascii=False))
        print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
