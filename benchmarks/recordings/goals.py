"""What the benchmark was meant to show, each goal beside what its rows say."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.rows import Row

Rows = Sequence[Row]


class Goal(NamedTuple):
    """A number that ours should reach on a world.

    Attributes:
        worlds: where; each by itself.
        what: is measured, in words.
        score: column of the rows.
        over_seeds: median, or the worst seed.
        bound: to reach.
        at_least: whether more is better.

    """

    worlds: tuple[str, ...]
    what: str
    score: str
    over_seeds: Callable[[list[float]], float]
    bound: float
    at_least: bool = True


_VARIANTS = ("ar5-laplace", "ar5-uniform", "ar5-40-channels", "ar5-noise", "ar10")
_PAIRS = ("pairs-gauss", "pairs-uniform", "pairs-mixture", "pairs-student")
_SPHERES = ("sphere-5-25", "sphere-linspace")
_MEDIAN = statistics.median

GOALS = (
    Goal(("ar5",), "mean corr., median", "mcc", _MEDIAN, 0.985),
    Goal(("ar5",), "mean corr., worst", "mcc", min, 0.97),
    Goal(("ar5",), "R², worst", "r2", min, 0.97),
    Goal(("ar5",), "Λ̂ error, worst", "concentration_error", max, 0.25, at_least=False),
    Goal(("ar5",), "CPU s, median", "cpu_seconds", _MEDIAN, 40.0, at_least=False),
    Goal(_VARIANTS, "mean corr., median", "mcc", _MEDIAN, 0.95),
    # The two that share φ are told apart only if each has a column of its own.
    Goal(("shared",), "lowest corr. of a source, median", "mcc_min", _MEDIAN, 0.95),
    Goal(_PAIRS, "R², median", "r2", _MEDIAN, 0.97),
    Goal(_PAIRS, "mean corr., median", "mcc", _MEDIAN, 0.95),
)


def judged(rows: Rows) -> list[list[str]]:
    """Hold rows against the goals: world, what, bound, found, seeds, yes or no; of worlds that have rows."""
    lines = []
    for goal in GOALS:
        for world in goal.worlds:
            values = [row[goal.score] for row in _of(rows, world, "ours") if goal.score in row]
            if values:
                found = goal.over_seeds(values)
                met = found >= goal.bound if goal.at_least else found <= goal.bound
                sign = "≥" if goal.at_least else "≤"
                lines.append(_line(world, goal.what, f"{sign} {goal.bound:g}", found, len(values), met=met))
    return lines + _beside_pca(rows) + _spheres(rows)


def _beside_pca(rows: Rows) -> list[list[str]]:
    """6000 rows: on no seed below PCA."""
    world = "ar5-6000-rows"
    ours, pca = ({row["seed"]: row["r2"] for row in _of(rows, world, name)} for name in ("ours", "PCA"))
    ahead = [ours[seed] - pca[seed] for seed in sorted(ours) if seed in pca]
    if not ahead:
        return []
    return [_line(world, "R² above PCA's, worst", "≥ 0", min(ahead), len(ahead), met=min(ahead) >= 0)]


def _spheres(rows: Rows) -> list[list[str]]:
    """On the papers' spheres, R² beside the version before, which knew nothing but spheres."""
    lines = []
    for world in _SPHERES:
        now, before = (_of(rows, world, name) for name in ("ours", "ours, random start"))
        if now and before:
            seeds = len(now)
            change = _MEDIAN(row["r2"] for row in now) - _MEDIAN(row["r2"] for row in before)
            found = sum(row["space"] == "sphere" for row in now)
            what, bound = "R² less that of before, medians", -0.002
            lines.append(_line(world, what, f"≥ {bound}", change, seeds, met=change >= bound))
            times = f"{found} of {seeds}"
            lines.append([world, "sphere found", "always", times, str(seeds), _yes(found == seeds)])
    return lines


def _of(rows: Rows, world: str, method: str) -> list[Row]:
    return [row for row in rows if (row["world"], row["method"]) == (world, method)]


def _line(world: str, what: str, bound: str, found: float, seeds: int, *, met: bool) -> list[str]:
    return [world, what, bound, f"{found:.4g}", str(seeds), _yes(met)]


def _yes(met: bool) -> str:
    return "yes" if met else "**no**"
