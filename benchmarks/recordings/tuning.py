"""The grids behind the settings of the two trained peers.

python -m benchmarks.recordings.tuning           every cell on seed 1000 of `ar5`, appended as it finishes
python -m benchmarks.recordings.tuning --rats    CEBRA-Time on spikes of `sargolini-grid`; needs `ratinabox`
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


# Two columns (three on its sphere) from sums over nine frames, as ours has them; and from single frames with
# the network that its authors recommend for spikes, which takes ten of them.
RATS = "CEBRA-Time, rats"
RAT_GRID: list[dict[str, Any]] = [
    {"seconds": seconds, "distance": distance}
    for distance, seconds in itertools.product(("cosine", "euclidean"), (0.25, 0.5, 1.0, 2.0))
] + [
    {"seconds": seconds, "frames": 1, "model_architecture": "offset10-model", "distance": "cosine"}
    for seconds in (0.5, 1.0)
]


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


def run_rats(name: str, settings: dict[str, Any]) -> Row:
    """Train CEBRA-Time on spikes, and read the position on blocks of time that nothing was fitted on."""
    import torch

    from benchmarks.recordings.rats import cebra_on_counts, embed, readouts
    from benchmarks.recordings.sessions import session

    torch.set_num_threads(1)
    data = session("sargolini-grid", SEED)
    with timed() as spent:
        found, x = cebra_on_counts(**settings)(data, SEED)
    read = readouts(embed(found, x, data), data.position, data.held_out)
    means = {kind: round(sum(values) / len(values), 4) for kind, values in read.items()}
    return {"method": name, "settings": settings, **means, "cpu_seconds": round(spent.cpu, 1)}


def main() -> int:
    parser = command(__doc__)
    add_sweep_options(parser, RESULTS)
    parser.add_argument("--rats", action="store_true", help="the grid of spikes instead")
    options = parser.parse_args()
    names = ("method", "settings")
    if options.rats:
        return carry_out(options, [(RATS, settings) for settings in RAT_GRID], run_rats, names)
    wanted = [(name, settings) for name, (_, grid) in GRIDS.items() for settings in grid]
    return carry_out(options, wanted, run, names)


if __name__ == "__main__":
    sys.exit(main())
