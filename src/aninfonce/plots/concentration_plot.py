"""Λ̂ of each column, or how long it remembers, with intervals and blocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from aninfonce._validation import check_choice
from aninfonce.plots._arrays import Floats, as_matrix, as_vector
from aninfonce.plots._axes import CYCLE, MAIN, Figure, new_axes, plain_log, whole_ticks

# Room beyond the outermost mark, as a factor.
_ROOM = 1.35
# A value counts as 0 below the first share of the largest value, the end of an interval below the second
# share of the smallest.
_SMALLEST, _NEAR = 1e-4, 0.2


def concentration_plot(
    values: Any,
    intervals: Any,
    blocks: Iterable[Any],
    *,
    as_time: Literal["rows", "seconds"] | None = None,
) -> Figure:
    """Draw Λ̂ of each column with its interval; columns that may be rotated among each other share a colour.

    The axis is logarithmic. An interval or a value that reaches 0 ends in an arrow at the bottom of the axis.

    Example:
        >>> figure = concentration_plot([2.0, 2.4, 9.0], [[1.5, 2.6], [1.9, 3.0], [7.0, 12.0]], [[0, 1], [2]])
        >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
        ('column', 'Λ̂, 95 % interval')

    Args:
        values: (d,), at least 0: Λ̂, or time constants.
        intervals: (d, 2), the ends of their intervals.
        blocks: columns that share a Λ̂, such as `[[0, 1], [2]]`; a column in none is by itself.
        as_time: the unit, if the values are time constants.

    """
    heights = as_vector(values, "values")
    ends = as_matrix(intervals, "intervals", columns=2)
    if not len(heights) or len(ends) != len(heights):
        raise ValueError(
            f"`intervals` must have one row for each of the {len(heights)} values, got {len(ends)}"
        )
    if (heights < 0).any():
        raise ValueError(f"`values` must be at least 0, got {heights.min():g}")
    if as_time is not None:
        check_choice(as_time, "as_time", ("rows", "seconds"))
    groups = [np.asarray(block, dtype=np.intp).reshape(-1) for block in blocks]
    bad = sorted({int(column) for group in groups for column in group} - set(range(len(heights))))
    if bad:
        raise ValueError(f"`blocks` must name columns 0 to {len(heights) - 1}, got {bad[0]}")

    low, high = _limits(heights, ends)
    figure, axes = new_axes(width=float(np.clip(2.5 + 0.45 * len(heights), 4.8, 11.0)))
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    plain_log(axes.yaxis, low, high)
    columns = np.arange(len(heights))
    shared = [group for group in groups if len(group) > 1]
    alone = np.setdiff1d(columns, np.concatenate(shared)) if shared else columns
    parts = [(alone, MAIN, "o", "a factor by itself")] if len(alone) else []
    for place, group in enumerate(shared):
        names = ", ".join(map(str, group)) if len(group) <= 6 else f"{len(group)} columns"
        mark = "sD^vP"[place % 5]
        parts.append((np.sort(group), CYCLE[place % len(CYCLE)], mark, f"block of {names}: free to rotate"))
    for group, colour, mark, label in parts:
        shown = np.clip(heights[group], low, None)
        axes.vlines(group, np.clip(ends[group, 0], low, None), ends[group, 1], color=colour, linewidth=2)
        axes.plot(group, shown, mark, color=colour, markersize=6, label=label)
        open_ended = group[ends[group, 0] <= low]
        # Not part of the legend: the text of the axis says what reaches its end.
        axes.plot(open_ended, np.full(len(open_ended), low), "v", color=colour, clip_on=False, markersize=8)
        if colour != MAIN:
            for run in np.split(group, np.flatnonzero(np.diff(group) > 1) + 1):
                axes.axvspan(run[0] - 0.4, run[-1] + 0.4, color=colour, alpha=0.1, linewidth=0)
    axes.set_xlim(-0.6, len(heights) - 0.4)
    whole_ticks(axes.xaxis, columns)
    # Two lines where one would be longer than the axis.
    what = "Λ̂, " if as_time is None else f"time constant [{as_time}]\n"
    axes.set(xlabel="column", ylabel=f"{what}95 % interval")
    if shared:
        figure.legend(
            loc="outside upper left", frameon=False, ncols=1 if len(parts) < 4 else 2, fontsize="small"
        )
    return figure


def _limits(heights: Floats, ends: Floats) -> tuple[float, float]:
    """Choose the ends of the axis: no more decades below the smallest value than needed."""
    top = max(float(ends.max()), float(heights.max()))
    if top <= 0:
        return 0.1, 1.0
    values = heights[heights > top * _SMALLEST]
    smallest = float(values.min()) if len(values) else top * _SMALLEST
    # An end far below its value is as good as 0.
    lowest = min([smallest, *ends[:, 0][ends[:, 0] > _NEAR * smallest]])
    # Arrows need room below the lowest mark.
    reaches_zero = bool((ends[:, 0] < lowest).any())
    return lowest / (_ROOM**2 if reaches_zero else _ROOM), top * _ROOM
