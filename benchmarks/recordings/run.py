"""Run the benchmark `recordings`, what is missing of it; see `--help`."""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import statistics
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results" / "recordings.jsonl"

# World, method, seed.
Cell = tuple[str, str, int]
Row = dict[str, Any]


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
    wall, cpu = time.perf_counter(), time.process_time()
    found = METHODS[method](x, x_pos, data.dim, own)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
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
        "cpu_seconds": round(cpu, 2),
        "seconds": round(wall, 2),
        **(found.facts or {}),
    }
    if found.concentration is not None:
        row["concentration"] = [round(float(value), 4) for value in found.concentration]
        if data.concentration is not None:
            error = concentration_error(found.concentration, data.concentration)
            row["concentration_error"] = round(error.max, 4)
            row["concentration_errors"] = [round(value, 4) for value in error.sorted]
    return row


def read_rows(path: Path) -> list[Row]:
    """Rows that are there; none if there is no file. A last line without its end was cut short: no row."""
    if not path.exists():
        return []
    *lines, _ = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def missing(wanted: Sequence[Cell], rows: Sequence[Row]) -> list[Cell]:
    """Leave out the cells that have a row."""
    done = {(row["world"], row["method"], row["seed"]) for row in rows}
    return [cell for cell in wanted if cell not in done]


def seconds_left(todo: Sequence[Cell], rows: Sequence[Row], jobs: int = 1) -> float | None:
    """Guess how long the cells will take from the rows of the same world and method, or of the method."""
    total = 0.0
    for world_name, method, _ in todo:
        same = [row["seconds"] for row in rows if (row["world"], row["method"]) == (world_name, method)]
        near = same or [row["seconds"] for row in rows if row["method"] == method]
        if not near:
            return None
        total += statistics.median(near)
    return total / jobs


def complete(
    todo: Sequence[Cell], run: Callable[[str, str, int], Row], path: Path, *, jobs: int = 1
) -> list[Cell]:
    """Run cells and add a line to the file as each finishes, so that a second call goes on from there.

    Args:
        todo: cells, in this order.
        run: makes the row of a cell; at the top of a module if there are several jobs.
        path: of the results.
        jobs: processes of one thread each; with 1, this process.

    Returns:
        The cells that raised. Their tracebacks are printed and the others run all the same.

    """
    from aninfonce._files import append_line

    path.parent.mkdir(parents=True, exist_ok=True)
    rows, failed = read_rows(path), []
    remaining = list(todo)
    for cell, row in _results(todo, run, jobs):
        remaining.remove(cell)
        if row is None:
            failed.append(cell)
            continue
        rows.append(row)
        append_line(path, json.dumps(row, ensure_ascii=False))
        left = seconds_left(remaining, rows, jobs)
        when = "time left not known yet" if left is None else f"about {math.ceil(left / 60)} min left"
        print(
            f"[{len(todo) - len(remaining)}/{len(todo)}, {when}] {json.dumps(row, ensure_ascii=False)}",
            flush=True,
        )
    return failed


def _results(
    todo: Sequence[Cell], run: Callable[[str, str, int], Row], jobs: int
) -> Iterator[tuple[Cell, Row | None]]:
    if jobs == 1:
        for cell in todo:
            try:
                yield cell, run(*cell)
            except Exception:
                print(f"{cell} failed:\n{traceback.format_exc()}", flush=True)
                yield cell, None
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(run, *cell): cell for cell in todo}
        for future in as_completed(futures):
            problem = future.exception()
            if problem is not None:
                print(
                    f"{futures[future]} failed:\n{''.join(traceback.format_exception(problem))}", flush=True
                )
            yield futures[future], None if problem is not None else future.result()


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
    """Build the command line that both parts of the benchmark share."""
    built = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    built.add_argument(
        "--worlds",
        nargs="+",
        choices=worlds,
        default=list(worlds),
        metavar="WORLD",
        help="of " + ", ".join(worlds),
    )
    built.add_argument(
        "--methods",
        nargs="+",
        choices=methods,
        default=list(methods),
        metavar="METHOD",
        help="of " + ", ".join(methods),
    )
    built.add_argument("--seeds", type=int, default=seeds, help="seeds 0 to this, less one")
    built.add_argument("--jobs", type=int, default=1, help="processes of one thread each")
    built.add_argument("--results", type=Path, default=out, help="file of the results")
    built.add_argument("--dry-run", action="store_true", help="only list what is missing")
    built.add_argument("--show", action="store_true", help="only print the tables of what is there")
    return built


def carry_out(chosen: argparse.Namespace, wanted: Sequence[Cell], run: Callable[[str, str, int], Row]) -> int:
    """Do what the command line says about these cells; give the code to leave with."""
    todo = missing(wanted, read_rows(chosen.results))
    if chosen.dry_run:
        for cell in todo:
            print(*cell)
        left = seconds_left(todo, read_rows(chosen.results), chosen.jobs)
        print(
            f"{len(todo)} of {len(wanted)} are missing"
            + ("" if left is None else f", about {left / 60:.0f} min")
        )
        return 0
    return 1 if complete(todo, run, chosen.results, jobs=chosen.jobs) else 0


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
    return carry_out(chosen, wanted, run_cell)
