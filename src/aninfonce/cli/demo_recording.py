"""`aninfonce demo --recording`: the sources of a recording, as they were and as two methods find them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from aninfonce.plots._axes import ACCENT, MAIN, SOFT, Figure, new_axes
from aninfonce.plots.drawing import inline_svg
from aninfonce.plots.pages import page_template

if TYPE_CHECKING:
    from rich.table import Table

Floats = npt.NDArray[np.float64]

# How much of each source is left one row later.
PHI = (0.5, 0.7, 0.85, 0.95, 0.99)
_TEST_ROWS, _BURN_IN, _SHOWN = 3_000, 1_000, 200
# Rows to learn from, and settings of the estimator: its defaults, unless it has to be quick.
_SIZES: dict[bool, tuple[int, dict[str, Any]]] = {False: (20_000, {}), True: (4_000, {"max_steps": 200})}
_COLOURS = {"truth": "#000000", "PCA": ACCENT, "ours": MAIN}


@dataclass(frozen=True)
class Match:
    """How well the columns of a method match the sources, on rows that nothing was fitted on.

    Attributes:
        r2: of a linear readout of all sources.
        correlation: mean of |r| over sources.
        each: |r| of each source with its column.
        columns: which column that is.
        traces: (n, 5) the matched columns of the first such rows, with unit variance and the sources' signs.

    """

    r2: float
    correlation: float
    each: list[float]
    columns: list[int]
    traces: list[list[float]] = field(repr=False)


@dataclass(frozen=True)
class RecordingRun:
    """A recording and what was found in it.

    Attributes:
        rows: learned from.
        test_rows: after these, scored on.
        truth: (n, 5) sources in the first of the latter.
        times: true time constants, in rows.
        found_times: of the matched columns of ours.
        found_intervals: 95 % intervals of them.
        pca: principal components.
        ours: `ContrastiveICA`.
        seconds: to fit ours.
        settings: of the estimator that are not its defaults.

    """

    rows: int
    test_rows: int
    truth: list[list[float]] = field(repr=False)
    times: list[float]
    found_times: list[float]
    found_intervals: list[list[float]]
    pca: Match
    ours: Match
    seconds: float
    settings: dict[str, Any]


def record(rows: int, seed: int) -> tuple[Floats, Floats]:
    """Draw sources (T, 5) of unit variance, and mix them to channels (T, 5)."""
    import torch
    from scipy.signal import lfilter

    from aninfonce._seeds import derive_seed, stream
    from aninfonce.mixing import InvertibleMLP

    drawn = np.random.default_rng(derive_seed(seed, "sources")).normal(size=(rows + _BURN_IN, len(PHI)))
    steps = zip(PHI, drawn.T, strict=True)
    z = np.stack([lfilter([np.sqrt(1 - phi**2)], [1, -phi], step) for phi, step in steps], axis=1)[_BURN_IN:]
    mixing = InvertibleMLP(len(PHI), candidates=1_000, generator=stream(seed, "mixing"))
    with torch.no_grad():
        return z, mixing(torch.from_numpy(z)).numpy()


def run_recording(seed: int, *, quick: bool) -> RecordingRun:
    """Fit PCA and `ContrastiveICA` to the start of a recording and score both on its end."""
    from sklearn.decomposition import PCA

    from aninfonce import ContrastiveICA

    rows, settings = _SIZES[quick]
    z, x = record(rows + _TEST_ROWS, seed)
    start = time.perf_counter()
    ica = ContrastiveICA(n_components=len(PHI), random_state=seed, **settings).fit(x[:rows])
    seconds = time.perf_counter() - start
    pca = PCA(len(PHI)).fit(x[:rows])
    ours = _match(z[rows:], ica.transform(x[rows:]))
    times, intervals = ica.time_constants_, ica.time_constants_interval_
    assert times is not None
    assert intervals is not None
    return RecordingRun(
        rows=rows,
        test_rows=_TEST_ROWS,
        truth=z[rows : rows + _SHOWN].round(3).tolist(),
        times=(-1 / np.log(PHI)).tolist(),
        found_times=times[ours.columns].tolist(),
        found_intervals=intervals[ours.columns].tolist(),
        pca=_match(z[rows:], pca.transform(x[rows:])),
        ours=ours,
        seconds=seconds,
        settings=settings,
    )


def _match(z: Floats, columns: Floats) -> Match:
    from aninfonce.metrics import linear_r2, mean_correlation_coefficient

    score = mean_correlation_coefficient(z, columns)
    matched = [column for column in score.matching if column is not None]
    own = columns[:, matched]
    traces = np.asarray(score.signs) * (own - own.mean(axis=0)) / own.std(axis=0)
    return Match(
        r2=linear_r2(z, columns).mean,
        correlation=score.mean,
        each=list(score.per_dimension),
        columns=matched,
        traces=traces[:_SHOWN].round(3).tolist(),
    )


def recording_table(found: RecordingRun) -> Table:
    """Put both methods beside each other."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title="Five sources of a recording, on its later rows", box=SIMPLE_HEAD)
    for heading in ("", "mean |r|", "R²", *(f"|r| {place + 1}" for place in range(len(PHI)))):
        table.add_column(heading, justify="right" if heading else "left")
    for name, match in (("PCA", found.pca), ("ours", found.ours)):
        table.add_row(name, *(f"{value:.3f}" for value in (match.correlation, match.r2, *match.each)))
    return table


def render_recording_page(found: RecordingRun, *, command: str) -> str:
    """Put traces and numbers into HTML."""
    template = page_template("recording.html.j2", "aninfonce.cli", {"digits": "{:.3f}".format})
    sources = [_source(found, place) for place in range(len(found.times))]
    return template.render(found=found, sources=sources, shown=len(found.truth), command=command)


def _source(found: RecordingRun, place: int) -> dict[str, Any]:
    rows = {"truth": found.truth, "PCA": found.pca.traces, "ours": found.ours.traces}
    correlations = {"truth": None, "PCA": found.pca.each[place], "ours": found.ours.each[place]}
    drawn = {}
    for name, traces in rows.items():
        figure = _draw_trace(np.asarray(traces)[:, place], _COLOURS[name])
        drawn[name] = {
            "drawn": inline_svg(figure, f"source-{place + 1}-{name}", f"source {place + 1}: {name}"),
            "correlation": correlations[name],
        }
    return {
        "truth": found.times[place],
        "time": found.found_times[place],
        "interval": found.found_intervals[place],
        "traces": drawn,
    }


def _draw_trace(values: Floats, colour: str) -> Figure:
    """Draw a trace without scales, since those of sources cannot be known."""
    figure, axes = new_axes(3.2, 1.3)
    axes.axhline(0.0, color=SOFT, linewidth=0.5)
    axes.plot(values, color=colour, linewidth=1.0)
    axes.set(xlim=(0, len(values) - 1), ylim=(-3.6, 3.6))
    axes.set_axis_off()
    return figure
