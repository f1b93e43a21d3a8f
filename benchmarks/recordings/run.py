"""Run the benchmark `recordings`, what is missing of it; see `--help`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.rows import FOLDER, Cell, Row, add_sweep_options, carry_out, read_rows
from benchmarks.timing import timed

RESULTS = FOLDER / "recordings.jsonl"
# What tells a cell: the arguments of what runs it.
NAMES = ("world", "method", "seed")


def run_cell(world_name: str, method: str, seed: int) -> Row:
    """Fit one method on the training rows of one world and score it on the last fifth, which nothing saw.

    R² is of a linear readout that is fitted on half of the scored rows and scored on the other half, and the
    other way round (`aninfonce.metrics.linear_r2`): d + 1 coefficients, from thousands of rows.

    Args:
        world_name: one of `benchmarks.recordings.worlds.WORLDS`.
        method: one of `benchmarks.recordings.peers.METHODS`.
        seed: of the world; the method's own is derived from it.

    Returns:
        The row of results.

    """
    import torch

    from aninfonce._seeds import derive_seed
    from aninfonce.metrics import concentration_error, linear_r2, mean_correlation_coefficient
    from benchmarks.recordings.peers import METHODS
    from benchmarks.recordings.worlds import world

    torch.set_num_threads(1)
    data = world(world_name, seed)
    x, scored = data.x[: data.n_train], data.x[data.n_train :]
    x_pos = None if data.x_pos is None else data.x_pos[: data.n_train]
    # scikit-learn's estimators take no seed of 32 bits or more.
    own = derive_seed(seed, "recordings", method) % 2**31
    with timed() as spent:
        found = METHODS[method](x, x_pos, data.dim, own)
    z, embedding = data.z[data.n_train :], found.transform(scored)
    r2, correlation = linear_r2(z, embedding), mean_correlation_coefficient(z, embedding)
    row: Row = {
        "world": world_name,
        "method": method,
        "seed": seed,
        "r2": round(r2.mean, 5),
        "r2_min": round(min(r2.per_dimension), 5),
        "mcc": round(correlation.mean, 5),
        "mcc_min": round(min(correlation.per_dimension), 5),
        "cpu_seconds": round(spent.cpu, 2),
        "seconds": round(spent.wall, 2),
        **(found.facts or {}),
    }
    if found.concentration is not None:
        row["concentration"] = [round(float(value), 4) for value in found.concentration]
        if data.concentration is not None:
            error = concentration_error(found.concentration, data.concentration)
            row["concentration_error"] = round(error.max, 4)
            row["concentration_errors"] = [round(value, 4) for value in error.sorted]
    return row


def cells(
    worlds: Sequence[str], methods: Sequence[str], seeds: int, paired: Callable[[str], bool]
) -> list[Cell]:
    """List what is wanted: all worlds of the first seed first, without peers that a world has nothing for."""
    from benchmarks.recordings.peers import NEEDS_TIME

    return [
        (world_name, method, seed)
        for seed in range(seeds)
        for world_name in worlds
        for method in methods
        if not (paired(world_name) and method in NEEDS_TIME)
    ]


def parser(worlds: Sequence[str], methods: Sequence[str], seeds: int, out: Path) -> argparse.ArgumentParser:
    """Build the command line that all parts of the benchmark share."""
    built = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    for name, choices in (("world", worlds), ("method", methods)):
        built.add_argument(
            f"--{name}s",
            nargs="+",
            choices=choices,
            default=list(choices),
            metavar=name.upper(),
            help="of " + ", ".join(choices),
        )
    built.add_argument("--seeds", type=int, default=seeds, help="seeds 0 to this, less one")
    built.add_argument("--show", action="store_true", help="only print the tables of what is there")
    add_sweep_options(built, out)
    return built


def main(arguments: Sequence[str] | None = None) -> int:
    from benchmarks.recordings.peers import METHODS
    from benchmarks.recordings.tables import recovered
    from benchmarks.recordings.worlds import WORLDS

    chosen = parser(list(WORLDS), list(METHODS), 10, RESULTS).parse_args(arguments)
    if chosen.show:
        print(recovered(read_rows(chosen.results)))
        return 0
    wanted = cells(
        chosen.worlds, chosen.methods, chosen.seeds, lambda name: name.startswith(("pairs", "sphere"))
    )
    return carry_out(chosen, wanted, run_cell, NAMES)
