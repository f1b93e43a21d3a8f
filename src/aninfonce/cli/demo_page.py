"""The demo's page: pictures of what was hidden and what was found, then curves, then numbers."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from typing import Any

import numpy as np

from aninfonce.cli.demo_runs import DemoRun, comparison_rows
from aninfonce.plots._axes import ACCENT, LEVEL, MAIN, SOFT, Axes, Figure, new_axes, whole_ticks
from aninfonce.plots.drawing import inline_svg
from aninfonce.plots.pages import page_template

_COLOURS = {"InfoNCE": ACCENT, "AnInfoNCE": MAIN}
# Lightness and saturation of dots that show on white and on black.
_LIGHT, _FULL = 0.52, 0.7
# The picture leaves out the few points that lie far out.
_FAR = 0.995


def render_page(runs: list[DemoRun], *, command: str) -> str:
    """Put pictures, curves and numbers into HTML."""
    parts = {part: slice(2 * place, 2 * place + 2) for place, part in enumerate(runs[0].r2)}
    truth = {"truth": runs[0].hidden}
    found = {run.name: run.found for run in runs}
    pictures = {
        part: {
            name: inline_svg(_draw_cloud(rows, runs[0].hidden, columns), f"{part}-{name}", f"{part}: {name}")
            for name, rows in (truth | found).items()
        }
        for part, columns in parts.items()
    }
    curves = {
        "How much of the factors is found, on held-out pairs.": _draw_recovery(runs),
        "The loss on held-out pairs, and the lowest that any model can reach.": _draw_loss(runs),
        "Λ̂ as it is learned. While the embedding is not on the sphere, Λ̂ has no scale; the dots are those of"
        " the closing fits.": _draw_concentration(runs[-1]),
    }
    return page_template("demo.html.j2", "aninfonce.cli", {"percent": _percent}).render(
        runs=runs,
        pictures=pictures,
        curves={
            caption: inline_svg(curve, f"curve-{place}", caption)
            for place, (caption, curve) in enumerate(curves.items())
        },
        table=comparison_rows(runs),
        command=command,
    )


def _percent(share: float) -> str:
    r"""Write a share as a percentage; rounding never makes it 100 %.

    >>> _percent(0.0326), _percent(0.9989), _percent(0.99996)
    ('3\xa0%', '99.9\xa0%', '99.9\xa0%')
    """
    number = f"{min(100 * share, 99.9):.1f}" if share > 0.99 else f"{100 * max(share, 0.0):.0f}"
    return f"{number}\N{NO-BREAK SPACE}%"


def _draw_cloud(rows: Sequence[Sequence[float]], truth: Sequence[Sequence[float]], columns: slice) -> Figure:
    """Draw two factors, as they are or as they were found, in the colours of the truth."""
    points, true = (np.asarray(given)[:, columns] for given in (rows, truth))
    angles = np.arctan2(true[:, 1], true[:, 0]) / (2 * np.pi) % 1
    figure, axes = new_axes(2.4, 2.4)
    reach = 1.1 * float(np.quantile(np.abs(true), _FAR))
    colours = [colorsys.hls_to_rgb(angle, _LIGHT, _FULL) for angle in angles]
    # As pixels: so many marks would make the page large.
    axes.scatter(points[:, 0], points[:, 1], c=colours, s=7, linewidths=0, rasterized=True)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color(SOFT)
    return figure


def _curve(run: DemoRun, name: str) -> tuple[list[int], list[float]]:
    points = [(row["step"], row[name]) for row in run.history if name in row]
    return [step for step, _ in points], [value for _, value in points]


def _step_axes(title: str, ylabel: str) -> tuple[Figure, Axes]:
    figure, axes = new_axes(4.6, 3.4)
    axes.set(title=title, xlabel="step", ylabel=ylabel)
    whole_ticks(axes.xaxis)
    return figure, axes


def _draw_recovery(runs: list[DemoRun]) -> Figure:
    figure, axes = _step_axes("Factors found", "R²")
    for run in runs:
        for part, dashes in zip(run.r2, ("-", "--"), strict=True):
            axes.plot(
                *_curve(run, f"r2_{part}"), dashes, color=_COLOURS[run.name], label=f"{run.name}, {part}"
            )
    axes.set_ylim(-0.03, 1.03)
    axes.legend(frameon=False, fontsize=9)
    return figure


def _draw_loss(runs: list[DemoRun]) -> Figure:
    figure, axes = _step_axes("Loss and its optimum", "loss [nats]")
    for run in runs:
        axes.plot(*_curve(run, "held_out_loss"), color=_COLOURS[run.name], label=run.name)
    optimum = runs[0].optimum
    axes.axhline(optimum, label=f"optimum, {optimum:.3f}", **LEVEL)
    axes.set_ylim(optimum - 0.15, max(run.loss for run in runs) + 1.2)
    axes.legend(frameon=False, fontsize=9)
    return figure


def _draw_concentration(run: DemoRun) -> Figure:
    figure, axes = _step_axes("Λ̂ of AnInfoNCE (dotted: truth)", "Λ̂")
    switch = run.switch or 0
    rows = [row for row in run.history if row["step"] > switch and "concentration" in row]
    steps = [row["step"] for row in rows]
    style: dict[str, Any] = {"color": _COLOURS[run.name], "linewidth": 1, "alpha": 0.8}
    for index, truth in enumerate(run.truth):
        values = [row["concentration"][index] for row in rows]
        axes.plot(steps, values, **style)
        axes.plot(steps[-1], values[-1], "o", color=_COLOURS[run.name], markersize=4)
        axes.axhline(truth, **LEVEL)
    if switch:
        axes.axvspan(0, switch, color="#eeeeee", linewidth=0)
        middle = (switch / 2, max(run.truth) / 2)
        axes.text(*middle, "not yet on\nthe sphere", ha="center", va="center", color="#666666")
    axes.set_ylim(0, 1.15 * max(run.truth))
    axes.set_xlim(left=0)
    return figure
