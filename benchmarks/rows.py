"""Rows of results: a JSON line for each finished cell, and a run of the cells that have none yet."""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import statistics
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from aninfonce._files import append_line, write_whole

FOLDER = Path(__file__).parent / "results"

Row = dict[str, Any]
# What a row answers, such as a world, a method and a seed: the arguments of the function that makes it.
Cell = tuple[Any, ...]
Run = Callable[..., Row]


def read_rows(path: Path) -> list[Row]:
    """Rows that are there; none if there is no file. A last line without its end was cut short: no row."""
    if not path.exists():
        return []
    *lines, _ = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Replace all rows of a file."""
    write_whole(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))


def missing(wanted: Iterable[Cell], rows: Iterable[Row], names: Sequence[str]) -> list[Cell]:
    """Leave out the cells that have a row; `names` are the columns that tell which cell a row is of."""
    done = [[row[name] for name in names] for row in rows]
    return [cell for cell in wanted if list(cell) not in done]


def seconds_left(
    todo: Iterable[Cell], rows: Sequence[Row], names: Sequence[str], jobs: int = 1
) -> float | None:
    """Guess how long cells take, each from rows that differ in the last name, or else in first and last."""
    total = 0.0
    for cell in todo:
        own = list(zip(names, cell, strict=True))[:-1]
        near = _seconds(rows, own) or _seconds(rows, own[1:])
        if not near:
            return None
        total += statistics.median(near)
    return total / jobs


def _seconds(rows: Iterable[Row], own: Iterable[tuple[str, Any]]) -> list[float]:
    same = (row for row in rows if all(row[name] == value for name, value in own))
    found = (row.get("seconds", row.get("cpu_seconds")) for row in same)
    return [seconds for seconds in found if seconds is not None]


def complete(
    todo: Sequence[Cell], run: Run, path: Path, names: Sequence[str], *, jobs: int = 1, fresh: bool = False
) -> list[Cell]:
    """Run cells and add a line to the file as each finishes, so that a second call goes on from there.

    Args:
        todo: cells, in this order.
        run: makes the row of a cell; at the top of a module if it is run in other processes.
        path: of the results.
        names: of the columns that tell which cell a row is of.
        jobs: processes of one thread each; with 1, this process.
        fresh: a process of its own for each cell, for what the cells before it would slow down.

    Returns:
        The cells that raised. Their tracebacks are printed and the others run all the same.

    """
    path.parent.mkdir(parents=True, exist_ok=True)
    rows, failed, remaining = read_rows(path), [], list(todo)
    for cell, row in _here(todo, run) if jobs == 1 and not fresh else _elsewhere(todo, run, jobs, fresh):
        remaining.remove(cell)
        if row is None:
            failed.append(cell)
            continue
        rows.append(row)
        line = json.dumps(row, ensure_ascii=False)
        append_line(path, line)
        left = seconds_left(remaining, rows, names, jobs)
        when = "time left not known yet" if left is None else f"about {math.ceil(left / 60)} min left"
        print(f"[{len(todo) - len(remaining)}/{len(todo)}, {when}] {line}", flush=True)
    return failed


def _here(todo: Iterable[Cell], run: Run) -> Iterator[tuple[Cell, Row | None]]:
    for cell in todo:
        try:
            yield cell, run(*cell)
        except Exception as problem:
            yield cell, _failed(cell, problem)


def _elsewhere(todo: Iterable[Cell], run: Run, jobs: int, fresh: bool) -> Iterator[tuple[Cell, Row | None]]:
    one_thread_each()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, max_tasks_per_child=1 if fresh else None) as pool:
        futures = {pool.submit(run, *cell): cell for cell in todo}
        for future in as_completed(futures):
            cell, problem = futures[future], future.exception()
            yield cell, future.result() if problem is None else _failed(cell, problem)


def _failed(cell: Cell, problem: BaseException) -> None:
    print(f"{cell} failed:\n{''.join(traceback.format_exception(problem))}", flush=True)


def one_thread_each() -> None:
    """Give one thread to each process that is started from now on."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


def command(text: str | None) -> argparse.ArgumentParser:
    """Begin a command line whose help is a module's docstring, as it is written there."""
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)


def add_sweep_options(
    parser: argparse.ArgumentParser, results: Path, *, flag: str = "--results", jobs: int = 1
) -> None:
    """Add the options that `carry_out` reads."""
    parser.add_argument(flag, dest="results", type=Path, default=results, help="file of the results")
    parser.add_argument("--jobs", type=int, default=jobs, help="processes of one thread each")
    parser.add_argument("--dry-run", action="store_true", help="only list what is missing")


def carry_out(
    options: argparse.Namespace,
    wanted: Sequence[Cell],
    run: Run,
    names: Sequence[str],
    *,
    fresh: bool = False,
) -> int:
    """Do what the command line says about these cells; give the code to leave with."""
    rows = read_rows(options.results)
    todo = missing(wanted, rows, names)
    if options.dry_run:
        for cell in todo:
            print(*cell)
        left = seconds_left(todo, rows, names, options.jobs)
        about = "" if left is None else f", about {left / 60:.0f} min"
        print(f"{len(todo)} of {len(wanted)} are missing{about}")
        return 0
    return 1 if complete(todo, run, options.results, names, jobs=options.jobs, fresh=fresh) else 0


def spread(rows: Iterable[Row], name: str, pattern: str, worst: Callable[[list[float]], float] | None) -> str:
    """Write the median over seeds and the worst of them in brackets; a dash where no row has the column."""
    values = [row[name] for row in rows if row.get(name) is not None]
    if not values:
        return "–"
    median = pattern.format(statistics.median(values))
    return median if worst is None else f"{median} ({pattern.format(worst(values))})"
