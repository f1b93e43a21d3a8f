"""The grid behind CEBRA's settings in the study `oscillators`, on its rotating sources.

python -m benchmarks.oscillators_tuning            every cell on seed 1000, appended as it finishes
python -m benchmarks.oscillators_tuning --most 1   the next that has no row
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from aninfonce.metrics import linear_r2
from aninfonce_papers.beyond.cebra_time import CebraSettings, cebra_time, grid
from aninfonce_papers.beyond.oscillators import TurningPairs
from aninfonce_papers.beyond.turning import Turning
from aninfonce_papers.engine import find_study
from benchmarks.rows import FOLDER, Row, add_sweep_options, carry_out, command, missing, read_rows
from benchmarks.timing import timed

RESULTS = FOLDER / "oscillators-tuning.jsonl"
# No row of the study has this seed.
SEED = 1000
_WORLD = "rotating"


@cache
def _recording() -> tuple[Turning, int]:
    """Give the recording, and how many of its rows to train on."""
    cells = find_study("oscillators").experiments("laptop")
    (pairs,) = (cell.pairs for cell in cells if cell.name == f"{_WORLD}: CEBRA-Time")
    assert isinstance(pairs, TurningPairs)
    return pairs.open(SEED), pairs.rows


def run(world: str, settings: dict[str, Any]) -> Row:
    """Train with some settings, and compare with the truth."""
    import torch

    torch.set_num_threads(1)
    recording, rows = _recording()
    with timed() as spent:
        e = cebra_time(recording.x, rows, recording.z.shape[1], SEED, CebraSettings(**settings))[rows:]
    r2 = round(linear_r2(recording.z[rows:], e).mean, 4)
    return {"world": world, "settings": settings, "r2": r2, "cpu_seconds": round(spent.cpu, 1)}


def main() -> int:
    parser = command(__doc__)
    parser.add_argument("--most", type=int, help="cells to run before it ends")
    add_sweep_options(parser, RESULTS)
    options = parser.parse_args()
    names = ("world", "settings")
    wanted = [(_WORLD, settings.model_dump()) for settings in grid(_recording()[0].lag)]
    return carry_out(options, missing(wanted, read_rows(options.results), names)[: options.most], run, names)


if __name__ == "__main__":
    sys.exit(main())
