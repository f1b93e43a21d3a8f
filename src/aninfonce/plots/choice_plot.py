"""What was tried, how it scored, and what was taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from aninfonce.plots._arrays import as_vector
from aninfonce.plots._axes import ACCENT, MAIN, Figure, new_axes, plain_log, whole_ticks

# Candidates that reach further than this factor, such as lags of 1 to 64, stand evenly on a logarithmic axis.
_WIDE = 8.0


def choice_plot(
    candidates: Any, scores: Any, errors: Any, chosen: float, *, name: str, score: str = "held-out bits"
) -> Figure:
    """Draw the score of each candidate with a bar of one standard error, and mark the one that was taken.

    Example:
        >>> figure = choice_plot([1, 2, 3], [0.5, 1.4, 1.42], [0.05, 0.06, 0.06], 2, name="number of columns")
        >>> [text.get_text() for text in figure.axes[0].texts]
        ['taken: 2']

    Args:
        candidates: (n,), what was tried, such as numbers of columns or lags.
        scores: (n,), how well each did.
        errors: (n,), their standard errors.
        chosen: one of the candidates.
        name: of what was chosen, for the axis.
        score: what the scores are, for the other axis.

    """
    tried = as_vector(candidates, "candidates")
    heights = as_vector(scores, "scores", length=len(tried))
    bars = as_vector(errors, "errors", length=len(tried))
    if (bars < 0).any():
        raise ValueError(f"`errors` must be at least 0, got {bars.min():g}")
    if chosen not in tried:
        raise ValueError(f"`chosen` must be one of the candidates {tried.tolist()}, got {chosen!r}")
    order = np.argsort(tried, kind="stable")
    tried, heights, bars = tried[order], heights[order], bars[order]
    figure, axes = new_axes()
    axes.errorbar(tried, heights, bars, fmt="o-", color=MAIN, capsize=3, markersize=5, linewidth=1.2)
    at = int(np.flatnonzero(tried == chosen)[0])
    axes.plot(
        [chosen], [heights[at]], "o", color=ACCENT, markersize=11, markerfacecolor="none", markeredgewidth=2
    )
    # Below the curve there is room, whatever its form, if the axis is given some.
    axes.margins(y=0.18)
    late = at > (len(tried) - 1) / 2
    axes.annotate(
        f"taken: {chosen:g}",
        (chosen, heights[at] - bars[at]),
        xytext=(-4 if late else 4, -7),
        textcoords="offset points",
        ha="right" if late else "left",
        va="top",
        color=ACCENT,
    )
    if tried[0] > 0 and tried[-1] / tried[0] > _WIDE and len(tried) > 2:
        axes.set_xscale("log")
        plain_log(axes.xaxis, tried[0], tried[-1])
    if np.array_equal(tried, np.round(tried)):
        whole_ticks(axes.xaxis, tried)
    axes.set(xlabel=name, ylabel=f"{score} ± one standard error")
    return figure
