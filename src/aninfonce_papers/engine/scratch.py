"""A folder for the checkpoints of a long cell, so that a killed one goes on where it was."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from aninfonce.extending import newest_snapshot
from aninfonce.training import CheckpointError

# A context variable, not an argument: a cell's result must not depend on it, only how soon it is there.
_FOLDER: ContextVar[Path | None] = ContextVar("folder", default=None)


def scratch_folder() -> Path | None:
    """Say where the cell that runs may keep checkpoints; None outside a sweep.

    >>> scratch_folder() is None
    True
    """
    return _FOLDER.get()


@contextmanager
def scratch(parent: Path | None, key: tuple[object, ...]) -> Iterator[float]:
    """Give a cell a folder of its own below `parent`; it is removed if the cell ends well, and kept if not.

    The key must be the same at the next try. Yields the seconds that went into the checkpoint that the cell
    goes on from; 0 if it starts anew, or without a parent.
    """
    if parent is None:
        yield 0.0
        return
    folder = parent / hashlib.sha256(repr(key).encode()).hexdigest()[:16]
    token = _FOLDER.set(folder)
    try:
        yield _seconds_before(folder)
    finally:
        _FOLDER.reset(token)
    shutil.rmtree(folder, ignore_errors=True)


def _seconds_before(folder: Path) -> float:
    try:
        newest = newest_snapshot(folder)
    except CheckpointError:  # the cell itself will say so
        return 0.0
    return 0.0 if newest is None else float(newest[1].facts["seconds"])
