"""What a sweep will run: experiments chosen, changed, counted and timed, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import fmean

import yaml
from pydantic import JsonValue

from aninfonce.extending import check_choice, check_count, did_you_mean, nearest_names
from aninfonce_papers.engine.base import Study
from aninfonce_papers.engine.experiment import Experiment
from aninfonce_papers.engine.row import PRESETS, Key, Preset, Row


@dataclass(frozen=True)
class Task:
    """One experiment of one study with one seed; `scratch` is where it may keep checkpoints while it runs."""

    study: Study
    experiment: Experiment
    seed: int
    preset: Preset
    scratch: Path | None = None

    @property
    def key(self) -> Key:
        """The key of the row that it will give."""
        return self.study.name, self.experiment.name, self.seed, self.experiment.key

    @property
    def label(self) -> str:
        """What users see."""
        return f"{self.study.name} · {self.experiment.name} · seed {self.seed}"


def plan(
    studies: Sequence[Study],
    preset: Preset = "smoke",
    *,
    seeds: int = 1,
    only: Sequence[str] = (),
    changes: Mapping[str, JsonValue] | None = None,
) -> list[Task]:
    """List what there is to run.

    Example:
        >>> from aninfonce_papers.engine import find_study
        >>> [task.label for task in plan([find_study("fig5")], "smoke", only=["large*"])]
        ['fig5 · large Λ · seed 0']

    Args:
        studies: to run.
        preset: size.
        seeds: of each experiment: 0, 1, …
        only: names of experiments, `*` and `?` allowed; all if empty.
        changes: values by path, such as "recipe.steps"; each is changed in every experiment that has it.

    Returns:
        One task for each experiment and seed, first seeds first.

    """
    check_choice(preset, "preset", PRESETS)
    for study in studies:
        if preset not in study.presets:
            there = ", ".join(map(repr, study.presets))
            raise ValueError(f"`preset` must be one of {there} for {study.name}, got {preset!r}")
    check_count(seeds, "seeds")
    grid = [(study, experiment) for study in studies for experiment in study.experiments(preset)]
    names = [experiment.name for _, experiment in grid]
    for pattern in only:
        if not any(fnmatchcase(name, pattern) for name in names):
            close = ", ".join(map(repr, nearest_names(pattern, names, cutoff=0.3) or names[:5]))
            raise ValueError(f"`only` must match a cell, got {pattern!r}; there are {close}")
    if only:
        grid = [(s, found) for s, found in grid if any(fnmatchcase(found.name, p) for p in only)]
    for path, value in (changes or {}).items():
        having = [path in found.paths() for _, found in grid]
        if not any(having):
            known = sorted({known for _, found in grid for known in found.paths()})
            raise ValueError(
                f"`set` must name a setting of these cells, such as {known[0]}, got {path!r}"
                f"{did_you_mean(path, known)}"
            )
        grid = [
            (study, found.edited(path, value) if has else found)
            for (study, found), has in zip(grid, having, strict=True)
        ]
    return [Task(study, found, seed, preset) for seed in range(seeds) for study, found in grid]


def parse_changes(texts: Iterable[str]) -> dict[str, JsonValue]:
    """Read `path=value` texts; values are YAML.

    >>> parse_changes(["recipe.steps=500", "pairs.data=scenes"])
    {'recipe.steps': 500, 'pairs.data': 'scenes'}
    """
    changes: dict[str, JsonValue] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ValueError(f"`set` must look like path=value, got {text!r}")
        changes[name] = yaml.safe_load(value)
    return changes


def estimate_seconds(task: Task, rows: Sequence[Row]) -> float:
    """Estimate the time of a task: from earlier rows of the same experiment, or by its own estimate."""
    mine = (task.study.name, task.experiment.name, task.experiment.key)
    same = [row.seconds for row in rows if row.error is None and (*row.key[:2], row.key[3]) == mine]
    return fmean(same) if same else task.experiment.seconds
