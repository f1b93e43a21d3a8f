"""Tables of the benchmark `recordings`, generated from its rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from aninfonce_papers.report.markdown import table
from benchmarks.recordings.goals import judged
from benchmarks.recordings.peers import METHODS
from benchmarks.recordings.worlds import WORLDS
from benchmarks.rows import Row, spread

# From the rows of one method to what a table says of them.
Column = Callable[[Sequence[Row]], str]

TITLES = {
    "ar5": "five AR(1) sources in 12 channels, 30 000 rows",
    "ar5-laplace": "… Laplace innovations",
    "ar5-uniform": "… uniform marginals",
    "ar5-40-channels": "… 40 channels",
    "ar5-noise": "… 5 % observation noise",
    "ar10": "ten sources in 24 channels, 60 000 rows",
    "shared": "four sources, two share φ and are Laplace",
    "ar5-6000-rows": "five sources, 6000 rows",
    "ar5-nearly-linear": "five sources, nearly linear mixing",
    "pairs-gauss": "pairs, Gaussian factors",
    "pairs-uniform": "pairs, uniform factors",
    "pairs-mixture": "pairs, two humps each",
    "pairs-student": "pairs, Student t factors (5 degrees)",
    "sphere-5-25": "the papers' sphere, Λ = (5, 25)",
    "sphere-linspace": "the papers' sphere, Λ from 5 to 25",
}

LEGEND = (
    "R² of a linear readout and the mean correlation coefficient of each factor with a column of its own, on"
    " the last fifth of the rows, which nothing saw: median over seeds and, in brackets, the worst. *Λ̂ error*"
    " is the largest relative error of the sorted Λ̂, against φ/(1 − φ²) for AR(1) sources; no other method"
    ' has a Λ̂. CPU seconds on one thread, median. *Space* counts what `space="auto"` decided.'
    " *Ours, random start* is the version before: its network did not start from a linear map, and bent more"
    " (`slope` .2). On spheres that is what is kept, after a first run that finds the sphere."
)
# Rows of a version that is no longer run.
_BEFORE = "ours, random start"


def counted(rows: Sequence[Row], name: str) -> str:
    """How often each value of a column came, the most frequent first."""
    values = [row[name] for row in rows if row.get(name) is not None]
    found = sorted(set(values), key=lambda value: (-values.count(value), value))
    return ", ".join(f"{value} {values.count(value)}" for value in found) or "–"


def recovered(rows: Sequence[Row]) -> str:
    """Render all worlds and methods that have rows, one table per world."""
    columns = {
        "R²": _spread("r2", "{:.3f}", min),
        "mean corr.": _spread("mcc", "{:.3f}", min),
        "Λ̂ error": _spread("concentration_error", "{:.0%}", max),
        "CPU s": _spread("cpu_seconds", "{:.1f}", None),
        "space": partial(counted, name="space"),
    }
    methods = ("ours", _BEFORE, *(name for name in METHODS if name != "ours"))
    found = {world: _of_methods(rows, world, methods, columns) for world in WORLDS}
    parts = [f"\n### `{world}`: {TITLES[world]}\n\n{lines}" for world, lines in found.items() if lines]
    return "".join([f"{LEGEND}\n", *parts])


def _of_methods(
    rows: Sequence[Row], world: str, methods: Iterable[str], columns: Mapping[str, Column]
) -> str:
    """Write a line for each method that has rows of a world; empty if none has."""
    found = {method: _own(rows, world, method) for method in methods}
    lines = [
        [method, str(len(own)), *(write(own) for write in columns.values())]
        for method, own in found.items()
        if own
    ]
    return table(("method", "seeds", *columns), lines) if lines else ""


def _spread(name: str, pattern: str, worst: Callable[[list[float]], float] | None) -> Column:
    return partial(spread, name=name, pattern=pattern, worst=worst)


RATS_LEGEND = (
    "R² of x and of y on held-out blocks of time, read from the embedding by ridge regression (*linear*) and"
    " by ten nearest neighbours: median over seeds and, in brackets, the worst. All methods but *one frame*"
    " and *window* see counts summed over nine frames. *All cells* is no embedding. *Ours* is"
    ' `ContrastiveICA(2, lag="auto", start="geodesic", input_dropout=0.3)`: nothing in it knows a position.'
    " *Residual* is its `start_residual_`, which says without labels where the start cannot be trusted: above"
    " .1. A dash: the run kept no such start."
    " Isomap has scikit-learn's five neighbours and about 2500 rows to go through; the square root gives"
    " Poisson counts one noise for all rates, and no other method was given it. CEBRA-Time has pairs one"
    " second apart: with three columns, on its sphere, that is the best of the grid below; with two, in flat"
    " space, it is not."
    " In Tanni's arena, 3.5 m wide, grid cells repeat so often that paths through neighbours cut corners, and"
    " the residual says so. Place cells among them settle it; more columns help neighbours; several lags at"
    " once do not help."
)


def rats(rows: Sequence[Row]) -> str:
    """Render all sessions and methods that have rows, one table per session."""
    from benchmarks.recordings.rats import METHODS as RAT_METHODS
    from benchmarks.recordings.sessions import CASES

    parts = [f"{RATS_LEGEND}\n"]
    scores = ("linear_x", "linear_y", "neighbours_x", "neighbours_y")
    for case, (arena, *numbers, modules) in CASES.items():
        names = (*scores, "linear_heading", "neighbours_heading") if numbers[2] else scores
        columns = {name.replace("_", " "): _spread(name, "{:.2f}", min) for name in names}
        columns["residual"] = _spread("residual", "{:.2f}", max)
        columns["CPU s"] = _spread("cpu_seconds", "{:.1f}", None)
        lines = _of_methods(rows, case, RAT_METHODS, columns)
        if not lines:
            continue
        kinds = ("grid", "place", "head-direction")
        who = ", ".join(f"{n} {kind} cells" for n, kind in zip(numbers, kinds, strict=True) if n)
        if numbers[0]:
            who += f" (grid spacings {', '.join(f'{spacing:g}' for spacing in modules)} m)"
        parts.append(f"\n### {arena.title()}: {who}\n\n{lines}")
    return "".join(parts)


def tuning(rows: Sequence[Row]) -> str:
    """Render the grids that the settings of the trained peers were chosen from: worlds, then rats."""
    return "\n".join(
        table(
            ("method", "settings", *heads, "CPU s"),
            (
                [
                    row["method"],
                    ", ".join(f"{name} {value}" for name, value in row["settings"].items()),
                    *(f"{row[name]:.3f}" for name in names),
                    f"{row['cpu_seconds']:.0f}",
                ]
                for row in found
            ),
        )
        for names, heads in ((("r2", "mcc"), ("R²", "mean corr.")), (("linear", "neighbours"),) * 2)
        if (found := [row for row in rows if names[0] in row])
    )


CHOICES_LEGEND = (
    'What `lag="auto"` and `n_components="auto"` choose where the answer is known; R² as above. *Sampled × 1*'
    " are 10 000 rows of the five sources of `ar5` with 5 % observation noise, *sampled × 8* are 20 000 rows"
    " of the same sources, sampled eight times as often: neighbouring rows share nearly everything. *Lost* is"
    " the R² of the best lag of the ladder less that of the chosen one: median"
    " and, in brackets, the worst seed."
)


def choices(rows: Sequence[Row]) -> str:
    """Render what "auto" chose: a table of lags, and one of numbers of columns."""
    from benchmarks.recordings.choices import COLUMN_WORLDS, LAG_WORLDS, LAGS

    lag_lines, column_lines = [], []
    for world in LAG_WORLDS:
        ladder = {lag: _own(rows, world, f"lag {lag}") for lag in LAGS}
        auto = _own(rows, world, "lag auto")
        best: dict[int, float] = {}
        for row in (row for found in ladder.values() for row in found):
            best[row["seed"]] = max(best.get(row["seed"], -math.inf), row["r2"])
        lost = [{"lost": best[row["seed"]] - row["r2"]} for row in auto if row["seed"] in best]
        if auto:
            shown = [spread(found, "r2", "{:.3f}", None) for found in ladder.values()]
            shown += [
                counted(auto, "lag"),
                spread(auto, "r2", "{:.3f}", None),
                spread(lost, "lost", "{:.3f}", max),
            ]
            lag_lines.append([world, str(len(auto)), *shown])
    for world in COLUMN_WORLDS:
        if auto := _own(rows, world, "columns auto"):
            shown = [spread(auto, name, "{:.3f}", min) for name in ("r2", "mcc")]
            shown.append(spread(auto, "cpu_seconds", "{:.0f}", None))
            column_lines.append([world, str(len(auto)), counted(auto, "columns"), *shown])
    lag_head = ("world", "seeds", *(f"lag {lag}" for lag in LAGS), "auto: lag, times", "auto: R²", "lost")
    column_head = ("world", "seeds", "auto: columns, times", "R²", "mean corr.", "CPU s")
    found = ((lag_head, lag_lines), (column_head, column_lines))
    return "\n".join([f"{CHOICES_LEGEND}\n", *(table(*part) for part in found if part[1])])


def _own(rows: Sequence[Row], world: str, method: str) -> list[Row]:
    return [row for row in rows if (row["world"], row["method"]) == (world, method)]


def page(
    rows: Sequence[Row],
    rat_rows: Sequence[Row],
    tuning_rows: Sequence[Row],
    choice_rows: Sequence[Row] = (),
) -> str:
    """Render the page of results: goals, worlds, what "auto" chose, rats, and how the peers were tuned."""
    parts = ["# Recordings, pairs and rats: ours beside other methods\n"]
    if rows:
        head = ("world", "what", "goal", "found", "seeds", "reached")
        parts.append("\n## What it was meant to show\n\n" + table(head, judged(rows)))
        parts.append(
            "\n## Worlds whose factors are known\n\n"
            "`python -m benchmarks.recordings` adds what is missing.\n\n"
        )
        parts.append(recovered(rows))
    if choice_rows:
        parts.append("\n## Does “auto” choose well?\n\n`python -m benchmarks.recordings.choices`. ")
        parts.append(choices(choice_rows))
    if rat_rows:
        parts.append(
            "\n## Where is the rat?\n\nReal paths, simulated cells with Poisson spikes;"
            " `python -m benchmarks.recordings.rats` adds what is missing.\n\n"
        )
        parts.append(rats(rat_rows))
    if tuning_rows:
        parts.append(
            "\n## How the trained peers were tuned\n\nOn seed 1000 of `ar5`, which no row above has,"
            " by R² with the truth: the best of each grid is used."
            " `python -m benchmarks.recordings.tuning`. CEBRA-Time on rats: on seed 1000 of `sargolini-grid`,"
            " by the mean linear R² of x and y (`--rats`).\n\n"
        )
        parts.append(tuning(tuning_rows))
    return "".join(parts)
