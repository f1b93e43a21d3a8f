"""What claims are judged from: means over seeds of committed rows, beside the published values.

This is the one place that knows how rows are stored. A claim names a `Value`, and is given a `Measured`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from aninfonce_papers.engine import Preset, Published, Row, find_study, newest
from aninfonce_papers.engine.row import configuration_key

Printed = Mapping[tuple[str, str], Published]
# Columns that name a row of a benchmark, by file.
_NAMED_BY = {
    "identify": ("setting",),
    "potential": ("setting", "potential"),
    "recordings": ("world", "method"),
}
BENCHMARKS = "benchmarks/"
# A claim is about the largest run that there is; smoke runs only show that a study runs.
_PRESETS: tuple[Preset, ...] = ("paper", "overnight", "laptop")


@dataclass(frozen=True)
class Value:
    """Which number a claim is about.

    Attributes:
        study: name of the study; for the rows of a benchmark its file, such as "benchmarks/recordings".
        cell: name of the cell.
        metric: name of the metric.

    """

    study: str
    cell: str
    metric: str


def across(study: str, cells: Iterable[str], *metrics: str) -> list[Value]:
    """Name the same metrics of several cells.

    >>> [(value.cell, value.metric) for value in across("fig2", ["a", "b"], "R²")]
    [('a', 'R²'), ('b', 'R²')]
    """
    return [Value(study, cell, metric) for cell in cells for metric in metrics]


def against(study: str, first: str, second: str, *metrics: str) -> list[tuple[Value, Value]]:
    """Pair the same metrics of two cells.

    >>> [(high.cell, low.cell) for high, low in against("fig2", "a", "b", "R²")]
    [('a', 'b')]
    """
    return [(Value(study, first, metric), Value(study, second, metric)) for metric in metrics]


@dataclass(frozen=True)
class Measured:
    """What was found for a value.

    Attributes:
        value: which one.
        preset: size of the run, "benchmark" for a benchmark, empty if there is no row.
        numbers: one for each seed; none if the rows do not have the metric.
        published: value to compare with, if there is one.

    """

    value: Value
    preset: str = ""
    numbers: tuple[float, ...] = ()
    published: Published | None = None

    @property
    def ran(self) -> bool:
        """Whether there is a row."""
        return bool(self.preset)

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return len(self.numbers)

    @property
    def mean(self) -> float:
        """Mean over seeds; not a number if there are none."""
        return fmean(self.numbers) if self.numbers else math.nan

    @property
    def spread(self) -> float | None:
        """Standard deviation over seeds, if there are several."""
        return stdev(self.numbers) if self.seeds > 1 else None

    @property
    def error(self) -> float:
        """Standard error of the mean; 0 for one seed, which says nothing about its spread."""
        return (self.spread or 0.0) / math.sqrt(max(1, self.seeds))


class Evidence:
    """All measured values, and the published ones of cells that were not run.

    Example:
        >>> evidence = Evidence([], printed=lambda study: {("a", "R²"): Published(0.5)})
        >>> found = evidence.find(Value("s", "a", "R²"))
        >>> found.ran, found.published.value
        (False, 0.5)

    Args:
        rows: of studies, as a store gives them.
        benchmarks: folder of the benchmarks' rows; none are read if omitted.
        printed: gives the published values of a study by cell and metric, for what has no rows.

    """

    def __init__(
        self,
        rows: Iterable[Row],
        benchmarks: Path | None = None,
        printed: Callable[[str], Printed] | None = None,
    ) -> None:
        self._printed = printed or printed_values
        self._cells = {**_study_cells(rows), **(_benchmark_cells(benchmarks) if benchmarks else {})}

    def find(self, value: Value) -> Measured:
        """Look a value up."""
        return self._measured(value, self._of(value)[:1])

    def alike(self, *values: Value) -> tuple[Measured, ...]:
        """Look up values that are to be compared, at the largest size that all of them were run at.

        If there is no such size, each is looked up at its own largest.
        """
        sizes = [{cell.preset for cell in self._of(value)} for value in values]
        common = set.intersection(*sizes) if sizes else set()
        return tuple(
            self._measured(value, [c for c in self._of(value) if not common or c.preset in common][:1])
            for value in values
        )

    def _of(self, value: Value) -> Sequence[_Cell]:
        return self._cells.get((value.study, value.cell), ())

    def _measured(self, value: Value, cells: Sequence[_Cell]) -> Measured:
        if not cells:
            known = {} if value.study.startswith(BENCHMARKS) else self._printed(value.study)
            return Measured(value, published=known.get((value.cell, value.metric)))
        (cell,) = cells
        numbers = tuple(cell.metrics.get(value.metric, ()))
        return Measured(value, cell.preset, numbers, cell.published.get(value.metric))


def noise(spread: float, seeds: int, published: Published) -> float:
    """Two standard errors of a difference from a published value, plus how exactly that was printed.

    >>> round(noise(0.02, 4, Published(0.9, precision=0.005)), 3)
    0.025
    """
    # One seed says nothing about its spread: take the published one for ours too.
    ours = spread / math.sqrt(seeds) if seeds > 1 else published.spread
    return 2.0 * math.hypot(ours, published.spread) + published.precision


def printed_values(study: str) -> Printed:
    """Read the published values that a study carries, at any of its sizes."""
    found = find_study(study)
    return {
        (experiment.name, metric): known
        for preset in found.presets
        for experiment in found.experiments(preset)
        for metric, known in experiment.published.items()
    }


@dataclass(frozen=True)
class _Cell:
    preset: str
    metrics: Mapping[str, Sequence[float]]
    published: Mapping[str, Published]


def _study_cells(rows: Iterable[Row]) -> dict[tuple[str, str], list[_Cell]]:
    """Collect the rows of each cell, one entry for each preset, the largest first."""
    there = [row for row in newest(rows) if row.error is None and row.preset in _PRESETS]
    cells: dict[tuple[str, str], list[_Cell]] = {}
    for preset in _PRESETS:
        groups: dict[tuple[str, str], list[Row]] = {}
        for row in there:
            if row.preset == preset:
                groups.setdefault((row.study, row.cell), []).append(row)
        for key, group in groups.items():
            cells.setdefault(key, []).append(_chosen(group))
    return cells


def _chosen(rows: Sequence[Row]) -> _Cell:
    """Choose one configuration: the newest whose published values count, or else the newest.

    On other data than the paper's, published values are only shown.
    """
    last = max(enumerate(rows), key=lambda item: (item[1].is_judged, item[0]))[1]
    key = configuration_key(last.configuration)
    mine = [row.metrics for row in rows if configuration_key(row.configuration) == key]
    return _Cell(last.preset, _by_metric(mine), last.published)


def _benchmark_cells(folder: Path) -> dict[tuple[str, str], list[_Cell]]:
    cells: dict[tuple[str, str], list[_Cell]] = {}
    for name, columns in _NAMED_BY.items():
        path = folder / f"{name}.jsonl"
        groups: dict[str, list[dict[str, object]]] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            row = json.loads(line)
            groups.setdefault(", ".join(_word(column, row[column]) for column in columns), []).append(row)
        for cell, rows in groups.items():
            cells[f"{BENCHMARKS}{name}", cell] = [_Cell("benchmark", _by_metric(rows), {})]
    return cells


def _word(column: str, entry: object) -> str:
    return str(entry) if column != "potential" else "with β" if entry else "without β"


def _by_metric(rows: Iterable[Mapping[str, object]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row in rows:
        for metric, number in row.items():
            if isinstance(number, int | float):
                found.setdefault(metric, []).append(float(number))
    return found
