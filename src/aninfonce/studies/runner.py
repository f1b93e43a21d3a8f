"""Runs the cells of studies in parallel and keeps every finished one."""

from __future__ import annotations

import json
import os
import platform
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

import joblib
import numpy as np
import torch

import aninfonce
from aninfonce._validation import check_choice, check_count
from aninfonce.studies.plan import Task
from aninfonce.studies.store import ResultStore, Row
from aninfonce.training import TrainingInterrupted

Backend = Literal["loky", "ray"]
BACKENDS = ("loky", "ray")


class Watcher(Protocol):
    """Is told how a sweep goes, such as a progress bar."""

    def started(self, task: Task) -> None:
        """Hear that a task was handed to a worker."""

    def finished(self, task: Task, row: Row) -> None:
        """Hear that a task is done, and its row on disk."""


def run_sweep(
    tasks: Sequence[Task],
    store: ResultStore,
    *,
    jobs: int = 1,
    backend: Backend = "loky",
    address: str | None = None,
    watcher: Watcher | None = None,
) -> list[Row]:
    """Run what is not in the store yet; each finished cell is stored at once.

    A cell that fails is stored with its error, and the others go on. Whatever ends the sweep early, all rows
    written so far stay, and the next call goes on from there.

    Example:
        >>> import tempfile
        >>> from aninfonce.studies import ResultStore, find_study, plan
        >>> store = ResultStore(tempfile.mkdtemp())
        >>> tasks = plan([find_study("fig5")], "smoke")
        >>> [row["cell"] for row in run_sweep(tasks, store)]
        ['large Λ', 'small Λ']
        >>> run_sweep(tasks, store)  # nothing left to do
        []

    Args:
        tasks: as `plan` lists them.
        store: where rows go, and where finished ones are looked up.
        jobs: tasks at a time, one thread each.
        backend: "loky" for processes on this machine, "ray" for a Ray cluster (`aninfonce[ray]`).
        address: of the Ray cluster; a local one is started if omitted.
        watcher: is told of every start and end.

    Returns:
        The new rows, in the order of finishing.

    """
    check_count(jobs, "jobs")
    check_choice(backend, "backend", BACKENDS)
    if address is not None and backend != "ray":
        raise ValueError(f"`address` is that of a Ray cluster, got {address!r} with backend {backend!r}")
    rows: list[Row] = []
    calls = _calls(tasks, store, watcher)
    with _backend(backend, address):
        # Handed out one by one as workers become free, given back in the order of finishing.
        parallel = joblib.Parallel(
            n_jobs=jobs, return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1
        )
        for index, row in parallel(calls):
            if row is None:
                raise KeyboardInterrupt
            store.append(row)
            rows.append(row)
            if watcher is not None:
                watcher.finished(tasks[index], row)
    return rows


def remaining(tasks: Sequence[Task], store: ResultStore) -> list[Task]:
    """Leave out the tasks that are in the store."""
    finished = store.finished()
    return [task for task in tasks if task.key not in finished]


def execute(task: Task) -> Row | None:
    """Run one task in this process, on one thread.

    Args:
        task: to run.

    Returns:
        Its row, with the error if it failed; None if it was told to stop.

    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    start = time.perf_counter()
    metrics: dict[str, Any] = {}
    error = None
    noticed: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as noticed:
            warnings.simplefilter("default")
            found = task.study.run(task.cell, task.seed)
        json.dumps(found, allow_nan=False)  # a NaN or an array is this cell's error, not the sweep's
        metrics = found
    except (KeyboardInterrupt, TrainingInterrupted):
        return None
    except Exception as problem:
        where = traceback.extract_tb(problem.__traceback__)[-1]
        place = f"{os.path.basename(where.filename)}:{where.lineno}"
        error = f"{type(problem).__name__}: {problem} ({place})"
    finally:
        torch.set_num_threads(threads)
    return {
        "study": task.study.name,
        "cell": task.cell.name,
        "seed": task.seed,
        "preset": task.preset,
        "configuration": task.cell.configuration,
        "metrics": metrics,
        "published": {name: asdict(value) for name, value in task.cell.published.items()},
        "seconds": round(time.perf_counter() - start, 3),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": _versions(),
        "warnings": list(dict.fromkeys(str(warning.message) for warning in noticed)),
        "error": error,
    }


def _numbered(index: int, task: Task) -> tuple[int, Row | None]:
    return index, execute(task)


def _calls(
    tasks: Sequence[Task], store: ResultStore, watcher: Watcher | None
) -> Iterator[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]:
    """Hand out the tasks; what another run into the same directory finished meanwhile is left out."""
    for index, task in enumerate(tasks):
        if task.key in store.finished():
            continue
        if watcher is not None:
            watcher.started(task)
        yield joblib.delayed(_numbered)(index, task)


@contextmanager
def _backend(backend: Backend, address: str | None) -> Iterator[None]:
    if backend == "loky":
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            yield
        return
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError:
        raise ValueError("`backend` 'ray' needs Ray: pip install 'aninfonce[ray]'") from None
    was_running = ray.is_initialized()
    if not was_running:
        ray.init(address=address, log_to_driver=False, include_dashboard=False if address is None else None)
    register_ray()
    try:
        with joblib.parallel_config(backend="ray"):
            yield
    finally:
        if not was_running:
            ray.shutdown()


def _versions() -> dict[str, str]:
    return {
        "aninfonce": aninfonce.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
    }
