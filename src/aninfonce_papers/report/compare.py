"""Ours beside the published value: means over seeds, differences and what they mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from aninfonce.extending import by_path
from aninfonce_papers.claims import Chapter, Evidence, ledger
from aninfonce_papers.claims.evidence import noise
from aninfonce_papers.engine import (
    Preset,
    Published,
    ResultStore,
    Row,
    Study,
    find_study,
    newest,
    study_names,
)
from aninfonce_papers.engine.row import configuration_key, shown_name


@dataclass(frozen=True)
class Comparison:
    """One metric of one cell, over its seeds.

    Attributes:
        cell: name of the cell.
        metric: name of the metric, for readers.
        seeds: number of seeds.
        mean: over them.
        spread: standard deviation over them, if there are several.
        published: value to compare with, if there is one.
        difference: ours − published.
        verdict: "better", "worse" or "within noise"; "as published" or "differs" where neither direction is
            better; empty without a published value, or if it is only shown.

    """

    cell: str
    metric: str
    seeds: int
    mean: float
    spread: float | None
    published: Published | None

    @property
    def difference(self) -> float | None:
        """Ours − published."""
        return None if self.published is None else self.mean - self.published.value

    @property
    def verdict(self) -> str:
        """What the difference means, given the noise of both sides."""
        if self.published is None or self.published.goal == "shown":
            return ""
        return judge(self.mean, self.spread or 0.0, self.seeds, self.published)


@dataclass(frozen=True)
class Section:
    """All that was run of one study at one preset.

    Attributes:
        study: that was run.
        preset: its size.
        rows: of all cells that did not fail.
        failures: rows of the others.
        comparisons: each metric of each cell over its seeds.
        presets: all that the study was run at, in the order of their sections.

    """

    study: Study
    preset: Preset
    rows: list[Row]
    failures: list[Row]
    comparisons: list[Comparison]
    presets: tuple[Preset, ...]

    @property
    def slug(self) -> str:
        """For file names and links."""
        return f"{self.study.name}-{self.preset}"

    @property
    def title(self) -> str:
        """What the study shows, and at which size if there are several."""
        size = f", preset {self.preset}" if len(self.presets) > 1 else ""
        return f"{self.study.name}: {self.study.title}{size}"

    @property
    def remarks(self) -> tuple[str, ...]:
        """Those of the study, in its last section."""
        return self.study.remarks if self.preset == self.presets[-1] else ()

    @property
    def has_published(self) -> bool:
        """Whether there is anything to compare with."""
        return any(line.published is not None for line in self.comparisons)

    @property
    def seeds(self) -> int:
        """Number of different seeds."""
        return len({row.seed for row in [*self.rows, *self.failures]})

    @property
    def minutes(self) -> float:
        """Compute time of all rows that did not fail."""
        return sum(row.seconds for row in self.rows) / 60.0

    @property
    def command(self) -> str:
        """What runs this again; settings changed by hand are in the table of settings."""
        seeds = f" --seeds {self.seeds}" if self.seeds > 1 else ""
        return f"aninfonce run {self.study.name} --preset {self.preset}{seeds}"

    @property
    def counts(self) -> dict[str, int]:
        """How often each verdict was given."""
        return Counter(line.verdict for line in self.comparisons if line.verdict)

    @property
    def versions(self) -> list[str]:
        """Versions of the software that ran it."""
        texts = (" ".join(f"{k} {v}" for k, v in row.versions.items()) for row in self.rows)
        return list(dict.fromkeys(texts))

    @property
    def settings(self) -> list[str]:
        """Settings of the runs, each once: the preset's, or those of a cell that was run with others."""
        grid = {found.name: found.key for found in self.study.experiments(self.preset)}
        texts = (
            "as the preset has it"
            if grid.get(row.cell) == configuration_key(row.configuration)
            else f"{row.cell}: {configuration_key(row.configuration)}"
            for row in self.rows
        )
        return list(dict.fromkeys(texts))


def judge(mean: float, spread: float, seeds: int, published: Published) -> str:
    """Name the difference; noise is two standard errors of it, plus how exactly the value was printed.

    >>> judge(0.95, 0.01, 4, Published(0.90, 0.01))
    'better'
    >>> judge(0.91, 0.01, 4, Published(0.90, 0.01))
    'within noise'
    >>> judge(5.1, 0.0, 1, Published(5.5, goal="target", target=5.0))
    'better'
    """
    allowed = noise(spread, seeds, published)
    gain = mean - published.value
    if published.goal == "equal":
        return "as published" if abs(gain) <= allowed else "differs"
    if published.goal == "lower":
        gain = -gain
    elif published.goal == "target":
        assert published.target is not None
        gain = abs(published.value - published.target) - abs(mean - published.target)
    if abs(gain) <= allowed:
        return "within noise"
    return "better" if gain > 0 else "worse"


def judged(store: ResultStore, benchmarks: str | Path | None) -> tuple[list[Section], Sequence[Chapter]]:
    """Compare all results of a store, and judge the claims by them and by rows of benchmarks, if given."""
    rows = store.rows()
    if not rows:
        raise ValueError(f"`directory` must hold results, found none in {store.path}")
    return sections(rows), ledger(Evidence(rows, Path(benchmarks) if benchmarks else None))


def sections(rows: Sequence[Row]) -> list[Section]:
    """Group rows by study and preset, in the order of the papers, and compare each cell."""
    order = {name: place for place, name in enumerate(study_names())}
    groups: dict[tuple[str, Preset], list[Row]] = {}
    for row in newest(rows):
        groups.setdefault((row.study, row.preset), []).append(row)
    result = []
    for name, preset in sorted(groups, key=lambda pair: (order.get(pair[0], len(order)), pair[1])):
        study = find_study(name)
        places = {cell.name: place for place, cell in enumerate(study.experiments(preset))}
        mine = sorted(groups[name, preset], key=lambda row: (places.get(row.cell, len(places)), row.seed))
        good = [row for row in mine if row.error is None]
        bad = [row for row in mine if row.error is not None]
        presets = tuple(sorted(preset for other, preset in groups if other == name))
        result.append(Section(study, preset, good, bad, compare(good), presets))
    return result


def compare(rows: Sequence[Row]) -> list[Comparison]:
    """Average the scalar metrics of each cell over its seeds, those with a published value first."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.cell, configuration_key(row.configuration)), []).append(row)
    variants = Counter(cell for cell, _ in groups)
    lines = []
    for (cell, _), mine in groups.items():
        label = cell if variants[cell] == 1 else f"{cell} ({_what_differs(mine[0], rows)})"
        published = mine[0].published
        scalars = [name for name, value in mine[0].metrics.items() if isinstance(value, int | float)]
        for name in sorted(scalars, key=lambda metric: metric not in published):
            values = [row.number(name) for row in mine if name in row.metrics]
            spread = stdev(values) if len(values) > 1 else None
            lines.append(
                Comparison(label, shown_name(name), len(values), fmean(values), spread, published.get(name))
            )
    return lines


def _what_differs(row: Row, rows: Sequence[Row]) -> str:
    """Tell runs of one cell apart by the settings in which they differ."""
    others = [by_path(other.configuration) for other in rows if other.cell == row.cell]
    mine = by_path(row.configuration)
    return ", ".join(f"{k} {mine[k]}" for k in mine if any(other.get(k) != mine[k] for other in others))
