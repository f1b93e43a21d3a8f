"""Clocks of the benchmarks: on the wall, and of the CPU, which a busy machine changes little."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Spent:
    """Seconds that a block took, once it has ended."""

    wall: float = 0.0
    cpu: float = 0.0


@contextmanager
def timed() -> Iterator[Spent]:
    """Time the block.

    >>> with timed() as spent:
    ...     _ = sum(range(1000))
    >>> spent.wall > 0
    True
    """
    spent = Spent()
    wall, cpu = time.perf_counter(), time.process_time()
    yield spent
    spent.wall, spent.cpu = time.perf_counter() - wall, time.process_time() - cpu


def seconds_a_step(step: Callable[[], object], steps: int) -> tuple[float, float]:
    """Time some steps: seconds of one on the wall, and of the CPU."""
    with timed() as spent:
        for _ in range(steps):
            step()
    return spent.wall / steps, spent.cpu / steps


def best_seconds(works: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Give the CPU time of each, the shortest of rounds in turn."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds + 1):  # the first warms up, and is never the best
        for name, work in works.items():
            begin = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - begin)
    return best
