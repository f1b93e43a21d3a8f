"""A score over the course of training, and the step that was kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aninfonce._validation import describe
from aninfonce.plots._arrays import as_vector
from aninfonce.plots._axes import ACCENT, MAIN, SOFT, Figure, new_axes, whole_ticks

# More points than this are a line, not marks.
_MOST_MARKS = 60


def curve_plot(
    steps: Any,
    scores: Any,
    *,
    best: int | None = None,
    name: str = "held-out bits",
    phases: Sequence[str] | None = None,
    chance: float | None = 0.0,
) -> Figure:
    """Draw a score against the steps of training, with the step whose weights were kept.

    Example:
        >>> figure = curve_plot([10, 20, 30], [1.0, 1.5, 1.2], best=20)
        >>> [text.get_text() for text in figure.axes[0].texts]
        ['kept: step 20']

    Args:
        steps: (n,), ascending. A step that comes twice begins a new phase, whose scores cannot be compared
            with those before it and are not joined to them.
        scores: (n,) at these steps.
        best: the step that was kept; nothing is marked if None.
        name: of the score, for the axis.
        phases: names of the phases, for a legend.
        chance: what guessing scores, drawn as a line if it is near; None for no line.

    """
    x = as_vector(steps, "steps")
    y = as_vector(scores, "scores", length=len(x))
    if not len(x) or (np.diff(x) < 0).any():
        raise ValueError(f"`steps` must be one or more steps in ascending order, got {describe(steps)}")
    figure, axes = new_axes()
    parts = np.split(np.arange(len(x)), np.flatnonzero(np.diff(x) == 0) + 1)
    for place, part in enumerate(parts):
        colour = MAIN if place == len(parts) - 1 else SOFT
        style = "o-" if len(x) <= _MOST_MARKS else "-"
        axes.plot(x[part], y[part], style, color=colour, markersize=3.5, linewidth=1.5)
        if phases is not None and place < len(phases):
            axes.lines[-1].set_label(phases[place])
    if phases is not None:
        figure.legend(loc="outside upper left", ncols=len(parts), frameon=False, fontsize="small")
    low, high = min(y), max(y)
    # A line far below would leave the curve no room.
    if chance is not None and low - (high - low or 1.0) <= chance <= high + (high - low):
        axes.axhline(chance, color=SOFT, linewidth=1, linestyle=":")
        axes.annotate(
            "guessing",
            (1, chance),
            xycoords=axes.get_yaxis_transform(),
            xytext=(0, 3),
            textcoords="offset points",
            ha="right",
            color=SOFT,
            fontsize="small",
        )
    if best is not None:
        axes.axvline(best, color=ACCENT, linewidth=1, linestyle="--")
        share = (best - x[0]) / max(x[-1] - x[0], 1.0)
        axes.annotate(
            f"kept: step {best}",
            (best, 1),
            xycoords=axes.get_xaxis_transform(),
            xytext=(0, 2),
            textcoords="offset points",
            ha="left" if share < 0.15 else "right" if share > 0.85 else "center",
            color=ACCENT,
        )
        at = np.flatnonzero(x == best)
        if len(at):
            axes.plot([best], [y[at[-1]]], "o", color=ACCENT, markersize=7)
    whole_ticks(axes.xaxis)
    axes.set(xlabel="step", ylabel=name)
    axes.margins(x=0.03)
    return figure
