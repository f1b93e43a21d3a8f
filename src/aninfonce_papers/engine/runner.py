"""Runs the cells of studies in parallel and keeps every finished one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, Protocol

from aninfonce.extending import check_choice, check_count
from aninfonce_papers.engine.plan import Task
from aninfonce_papers.engine.row import Row
from aninfonce_papers.engine.store import ResultStore
from aninfonce_papers.engine.workers import on_processes, on_ray

Backend = Literal["loky", "ray"]
BACKENDS = ("loky", "ray")


class Watcher(Protocol):
    """Follows a sweep, as a progress bar does."""

    def started(self, task: Task) -> None:
        """Is called when a task is handed to a worker."""

    def finished(self, task: Task, row: Row) -> None:
        """Is called when a task is done and its row is on disk."""


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
    written so far stay, and the next call goes on from there; cells of many minutes keep checkpoints in the
    store's folder `unfinished`, and go on from these.

    Example:
        >>> import tempfile
        >>> from aninfonce_papers.engine import ResultStore, find_study, plan
        >>> store = ResultStore(tempfile.mkdtemp())
        >>> tasks = plan([find_study("fig5")], "smoke")
        >>> [row.cell for row in run_sweep(tasks, store)]
        ['large Λ', 'small Λ']
        >>> run_sweep(tasks, store)  # nothing left to do
        []

    Args:
        tasks: as `plan` lists them.
        store: where rows go, and where finished ones are looked up.
        jobs: tasks at a time, one thread each.
        backend: "loky" for processes on this machine, "ray" for a Ray cluster (`aninfonce[ray]`).
        address: of the Ray cluster; a local one is started if omitted.
        watcher: called at every start and end.

    Returns:
        The new rows, in the order of finishing.

    """
    check_count(jobs, "jobs")
    check_choice(backend, "backend", BACKENDS)
    if address is not None and backend != "ray":
        raise ValueError(f"`address` is that of a Ray cluster, got {address!r} with backend {backend!r}")
    rows: list[Row] = []
    due = _hand_out(tasks, store, watcher)
    ended = on_processes(due, jobs) if backend == "loky" else on_ray(due, jobs, address)
    for task, row in ended:
        if row is None:
            raise KeyboardInterrupt
        store.append(row)
        rows.append(row)
        if watcher is not None:
            watcher.finished(task, row)
    return rows


def remaining(tasks: Sequence[Task], store: ResultStore) -> list[Task]:
    """Leave out the tasks that are in the store."""
    finished = store.finished()
    return [task for task in tasks if task.key not in finished]


def _hand_out(tasks: Sequence[Task], store: ResultStore, watcher: Watcher | None) -> Iterator[Task]:
    """Give tasks one by one; what another run into the same directory finished meanwhile is left out."""
    for task in tasks:
        if task.key in store.finished():
            continue
        if watcher is not None:
            watcher.started(task)
        yield replace(task, scratch=store.directory / "unfinished")
