"""Results on disk: JSON lines, one for each finished experiment; several runs may write at once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock
from pydantic import ValidationError

from aninfonce.extending import append_line
from aninfonce_papers.engine.old_rows import brought_up_to_date
from aninfonce_papers.engine.row import Key, Row

FILE = "results.jsonl"


class ResultStore:
    """A directory of results.

    A line is written whole, under a lock and flushed to disk. A machine that dies in the middle of it leaves
    a last line without its end: reading skips it, the next writer removes it, nothing else is touched.

    Example:
        >>> import tempfile
        >>> from aninfonce_papers.engine import find_study, plan, run_sweep
        >>> store = ResultStore(tempfile.mkdtemp())
        >>> found = run_sweep(plan([find_study("fig5")]), store)
        >>> store.rows() == found, len(store.finished())
        (True, 2)

    Args:
        directory: is created if missing when the first row is written.

    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.path = self.directory / FILE

    def append(self, row: Row) -> None:
        """Add a row."""
        line = json.dumps(row.model_dump(), ensure_ascii=False, allow_nan=False)
        self.directory.mkdir(parents=True, exist_ok=True)
        with FileLock(self.path.with_suffix(".lock")):
            append_line(self.path, line)

    def rows(self) -> list[Row]:
        """Read all rows in the order of writing; a torn last line is skipped.

        Returns:
            The rows. A `ValueError` names a line that is not a row.

        """
        if not self.path.exists():
            return []
        *lines, _ = self.path.read_bytes().split(b"\n")
        rows = []
        for number, line in enumerate(lines, start=1):
            try:
                rows.append(Row.model_validate_json(line))
            except ValidationError:
                raise ValueError(f"{self.path}, line {number}, is not a result: {line[:60]!r}") from None
        return [brought_up_to_date(row) for row in rows]

    def finished(self) -> set[Key]:
        """Keys of all experiments that need not run again; failed ones are not among them."""
        return {row.key for row in self.rows() if row.error is None}


def newest(rows: Iterable[Row]) -> list[Row]:
    """Keep one row per key: the last that succeeded, or the last failure if none did."""
    kept: dict[Key, Row] = {}
    for row in rows:
        if row.error is None or row.key not in kept or kept[row.key].error is not None:
            kept[row.key] = row
    return list(kept.values())
