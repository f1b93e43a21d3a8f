"""What a sweep will run: cells chosen, changed, counted and timed, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml

from aninfonce.extending import check_choice, check_count, did_you_mean, nearest_names
from aninfonce_papers.engine.base import PRESETS, Cell, Preset, Study
from aninfonce_papers.engine.store import Key, Row


@dataclass(frozen=True)
class Task:
    """One cell of one study with one seed; `scratch` is where it may keep checkpoints while it runs."""

    study: Study
    cell: Cell
    seed: int
    preset: Preset
    scratch: Path | None = None

    @property
    def key(self) -> Key:
        """As `store.row_key` of the row that it will give."""
        return self.study.name, self.cell.name, self.seed, self.cell.key

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.study.name} · {self.cell.name} · seed {self.seed}"


def plan(
    studies: Sequence[Study],
    preset: Preset = "smoke",
    *,
    seeds: int = 1,
    only: Sequence[str] = (),
    changes: Mapping[str, Any] | None = None,
) -> list[Task]:
    """List what there is to run.

    Example:
        >>> from aninfonce_papers.engine import find_study
        >>> [task.label for task in plan([find_study("fig5")], "smoke", only=["large*"])]
        ['fig5 · large Λ · seed 0']

    Args:
        studies: to run.
        preset: size.
        seeds: of each cell: 0, 1, …
        only: names of cells, `*` and `?` allowed; all if empty.
        changes: settings to change in every cell that has them.

    Returns:
        One task for each cell and seed, first seeds first.

    """
    check_choice(preset, "preset", PRESETS)
    check_count(seeds, "seeds")
    pairs = [(study, cell) for study in studies for cell in study.cells(preset)]
    names = [cell.name for _, cell in pairs]
    for pattern in only:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise ValueError(f"`only` must match a cell, got {pattern!r}{_hint(pattern, names)}")
    if only:
        pairs = [(s, cell) for s, cell in pairs if any(fnmatchcase(cell.name, p) for p in only)]
    changes = changes or {}
    known = sorted({name for _, cell in pairs for name in cell.settings})
    for name in changes:
        if name not in known:
            raise ValueError(
                f"`set` must name a setting of these cells ({', '.join(known)}), got {name!r}"
                f"{did_you_mean(name, known)}"
            )
    cells = [(study, _change(cell, changes)) for study, cell in pairs]
    return [Task(study, cell, seed, preset) for seed in range(seeds) for study, cell in cells]


def parse_changes(texts: Iterable[str]) -> dict[str, Any]:
    """Read `key=value` texts; values are YAML.

    >>> parse_changes(["steps=500", "recipe=fast"])
    {'steps': 500, 'recipe': 'fast'}
    """
    changes = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ValueError(f"`set` must look like key=value, got {text!r}")
        changes[name] = yaml.safe_load(value)
    return changes


def estimate_seconds(task: Task, rows: Sequence[Row]) -> float:
    """Time a task from earlier rows of the same cell, or else by the cell's own estimate."""
    same = [
        float(row["seconds"])
        for row in rows
        if row["error"] is None
        and (row["study"], row["cell"]) == (task.study.name, task.cell.name)
        and row["configuration"] == _as_read(task.cell)
    ]
    return fmean(same) if same else task.cell.estimate


def _as_read(cell: Cell) -> dict[str, Any]:
    """Give the configuration as it comes back from JSON: tuples are lists there."""
    read: dict[str, Any] = yaml.safe_load(cell.key)
    return read


def _change(cell: Cell, changes: Mapping[str, Any]) -> Cell:
    settings = dict(cell.settings)
    for name, value in changes.items():
        if name not in settings:
            continue
        default = settings[name]
        if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if default is not None and type(value) is not type(default):
            wanted = type(default).__name__
            raise ValueError(f"`set` {name} must be of type {wanted}, like {default!r}, got {value!r}")
        settings[name] = value
    same = all(settings[name] == value for name, value in cell.published_with.items())
    return replace(cell, settings=settings, published=cell.published if same else {})


def _hint(name: str, names: Sequence[str]) -> str:
    close = nearest_names(name, names, cutoff=0.3) or names[:5]
    return f"; there are {', '.join(map(repr, close))}"
