"""Results on disk: JSON lines, one for each finished cell; several runs may write at once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from filelock import FileLock

from aninfonce.extending import append_line
from aninfonce_papers.engine.base import PRESETS, Published, configuration_key

Row = dict[str, Any]
Key = tuple[str, str, int, str]

FILE = "results.jsonl"
_FIELDS: dict[str, Any] = {
    "study": str,
    "cell": str,
    "seed": int,
    "configuration": dict,
    "metrics": dict,
    "error": str | None,
}
_OF_RUNS: dict[str, Any] = {"preset": str, "published": dict, "seconds": int | float, "versions": dict}


class ResultStore:
    """A directory of results.

    A line is written whole, under a lock and flushed to disk. A machine that dies in the middle of it leaves
    a last line without its end: reading skips it, the next writer removes it, nothing else is touched.

    Example:
        >>> import tempfile
        >>> store = ResultStore(tempfile.mkdtemp())
        >>> row = {"study": "s", "cell": "a", "seed": 0, "configuration": {}, "metrics": {}, "error": None}
        >>> store.append(row)
        >>> store.rows() == [row], store.finished()
        (True, {('s', 'a', 0, '{}')})

    Args:
        directory: is created if missing when the first row is written.

    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.path = self.directory / FILE

    def append(self, row: Row) -> None:
        """Add a row."""
        missing = [name for name in _FIELDS if name not in row]
        if missing:
            raise ValueError(f"`row` must have {', '.join(_FIELDS)}, got one without {', '.join(missing)}")
        line = json.dumps(row, ensure_ascii=False, allow_nan=False)
        self.directory.mkdir(parents=True, exist_ok=True)
        with FileLock(self.path.with_suffix(".lock")):
            append_line(self.path, line)

    def rows(self, *, of_runs: bool = False) -> list[Row]:
        """Read all rows in the order of writing; a torn last line is skipped.

        Args:
            of_runs: require what `aninfonce run` writes, and not only what `append` does.

        Returns:
            The rows. A `ValueError` names the line that is none.

        """
        if not self.path.exists():
            return []
        *lines, _ = self.path.read_bytes().split(b"\n")
        rows = []
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line)
            # Brackets within brackets, without end, are no ValueError.
            except (ValueError, RecursionError):
                row = None
            if not _has(row, _FIELDS) or (of_runs and not _is_of_run(row)):
                raise ValueError(f"{self.path}, line {number}, is not a result: {line[:60]!r}")
            rows.append(row)
        return rows

    def finished(self) -> set[Key]:
        """Keys of all cells that need not run again; failed ones are not among them."""
        return {row_key(row) for row in self.rows() if row["error"] is None}


def _has(row: Any, fields: dict[str, Any]) -> bool:
    """Tell whether all fields are there, each of its kind."""
    return isinstance(row, dict) and all(
        name in row and isinstance(row[name], kind) for name, kind in fields.items()
    )


def _is_of_run(row: Row) -> bool:
    """Tell whether a row has what `aninfonce run` adds, and reports read."""
    if not _has(row, _OF_RUNS) or row["preset"] not in PRESETS:
        return False
    try:
        return all(Published(**value) for value in row["published"].values())
    except (TypeError, ValueError):
        return False


def row_key(row: Row) -> Key:
    """Say which question a row answers: study, cell, seed and configuration."""
    return row["study"], row["cell"], row["seed"], configuration_key(row["configuration"])


def newest(rows: Iterable[Row]) -> list[Row]:
    """Keep one row a key: the last that succeeded, or the last failure if none did.

    >>> def row(seed, error):
    ...     return {"study": "s", "cell": "a", "seed": seed, "configuration": {}, "error": error}
    >>> [r["error"] for r in newest([row(0, "broke"), row(0, None), row(1, "broke")])]
    [None, 'broke']
    """
    kept: dict[Key, Row] = {}
    for row in rows:
        key = row_key(row)
        if row["error"] is None or key not in kept or kept[key]["error"] is not None:
            kept[key] = row
    return list(kept.values())
