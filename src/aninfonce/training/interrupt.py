"""SIGINT and SIGTERM as a request to stop after the current step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StoppedAtOnce(Exception):
    """A signal arrived while the run could stop at once."""


class StopSignals:
    """Remembers the first signal and lets a second have its usual effect; only in the main thread.

    Example:
        >>> with StopSignals() as signals:
        ...     signals.received is None
        True

    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._waits = True
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._previous = {number: signal.signal(number, self._remember) for number in _SIGNALS}
        return self

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.received = number
        self._restore()
        self._stop_unless_waiting()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Raise `StoppedAtOnce` in the block as soon as there is a signal, or if there has been one."""
        self._waits = False
        try:
            self._stop_unless_waiting()
            yield
        finally:
            self._waits = True

    def _stop_unless_waiting(self) -> None:
        if self.received is not None and not self._waits:
            raise StoppedAtOnce

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous = {}

    def __exit__(self, *_: object) -> None:
        self._restore()
