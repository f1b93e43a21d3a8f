"""Where tasks run at the same time: processes of this machine through joblib, or a Ray cluster.

Ray's own joblib backend gives results back only when all are there, and a sweep that is stopped would lose
them; so tasks go to Ray directly.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from typing import Any

import joblib

from aninfonce_papers.engine.execute import execute, result_row
from aninfonce_papers.engine.plan import Task
from aninfonce_papers.engine.row import Row

Ended = tuple[Task, Row | None]


def on_processes(tasks: Iterable[Task], jobs: int) -> Iterator[Ended]:
    """Run up to `jobs` tasks at a time, one thread each; gives each back when it ends."""
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        # Handed out one by one as workers become free.
        parallel = joblib.Parallel(
            n_jobs=jobs, return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1
        )
        yield from parallel(joblib.delayed(_with_task)(task) for task in tasks)


def on_ray(tasks: Iterable[Task], jobs: int, address: str | None) -> Iterator[Ended]:
    """Run up to `jobs` tasks at a time on a Ray cluster, or on a local one that is stopped at the end."""
    try:
        import ray
    except ImportError:
        raise ValueError("`backend` 'ray' needs Ray: pip install 'aninfonce[ray]'") from None
    started = not ray.is_initialized()
    if started:
        ray.init(address=address, log_to_driver=False)
    try:
        remote = ray.remote(num_cpus=1, max_retries=0)(execute)
        waiting = iter(tasks)
        running: dict[Any, tuple[Task, float]] = {}
        while True:
            for task in itertools.islice(waiting, jobs - len(running)):
                running[remote.remote(task)] = task, time.perf_counter()
            if not running:
                return
            (ended,), _ = ray.wait(list(running), num_returns=1)
            task, start = running.pop(ended)
            try:
                row = ray.get(ended)
            except ray.exceptions.RayError as problem:
                # The worker itself died, perhaps out of memory: this task's failure, not the sweep's.
                error = f"{type(problem).__name__}: {str(problem).splitlines()[0]}"
                row = result_row(task, {}, time.perf_counter() - start, error)
            yield task, row
    finally:
        if started:
            ray.shutdown()


def _with_task(task: Task) -> Ended:
    return task, execute(task)
