"""Wall time by part of the loop."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Sums wall time by part; `with watch("data"): ...`.

    Example:
        >>> watch = Stopwatch()
        >>> with watch("work"):
        ...     _ = sum(range(1000))
        >>> watch.seconds["work"] > 0
        True

    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._started: float | None = None

    def start(self) -> None:
        """Begin to count the time as a whole."""
        self._started = time.perf_counter()

    def elapsed(self) -> float:
        """Wall time since the start."""
        return 0.0 if self._started is None else time.perf_counter() - self._started

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Count the time inside towards a part."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] = self.seconds.get(part, 0.0) + time.perf_counter() - begin
