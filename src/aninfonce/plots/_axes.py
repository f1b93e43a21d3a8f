"""The common look of all plots: one axis, few lines, ticks that read as numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.axis import Axis as Axis
    from matplotlib.figure import Figure as Figure
else:
    # Names for annotations alone: whoever only wants a number need not wait for matplotlib.
    Axes = Axis = Figure = Any

MAIN, ACCENT, SOFT = "#1c64a8", "#c4561c", "#8a919c"
# Dots that stay apart where a page shows a drawing at half its size.
LEVEL: dict[str, Any] = {"color": "black", "linewidth": 1.4, "linestyle": (0, (1.2, 2.2))}
# For blocks and classes: told apart in grey and by most colour-blind readers, readable on white and on black.
CYCLE = (
    "#c4561c",
    "#2a8c5a",
    "#8e5bb5",
    "#b58a00",
    "#1f8fa6",
    "#b0447a",
    "#6b7f1f",
    "#4f6fd0",
    "#a0522d",
    "#5c6b7a",
)
# Fewer ticks than this say little about a scale.
_FEWEST_TICKS = 3


def new_axes(width: float = 6.4, height: float = 3.6) -> tuple[Figure, Axes]:
    """Make a figure with one axis, without touching the state of pyplot."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def plain(value: float, _: int | None = None, *, digits: int = 4) -> str:
    """Write a number as people do, never as a power of ten.

    >>> plain(0.05), plain(20.0), plain(1e6), plain(-2.5)
    ('0.05', '20', '1000000', '−2.5')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return np.format_float_positional(float(f"{value:.{digits}g}"), trim="-").replace("-", "−")


def plain_log(axis: Axis, low: float, high: float) -> None:
    """Put few, round and plainly written ticks on a logarithmic axis that reaches from `low` to `high`."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    decades = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    for steps in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
        ticks = np.multiply.outer(10.0**decades, steps)
        if ((low <= ticks) & (ticks <= high)).sum() >= _FEWEST_TICKS:
            axis.set_major_locator(LogLocator(subs=steps, numticks=12))
            break
    else:
        # Less than a decade: equal distances are the rounder numbers.
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(plain))
    axis.set_minor_formatter(NullFormatter())
    axis.set_minor_locator(NullLocator())


def plain_logs(figure: Figure) -> None:
    """Write the ticks of all logarithmic axes plainly, where nothing else was said about them."""
    from matplotlib.ticker import LogFormatter

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log" and isinstance(axis.get_major_formatter(), LogFormatter):
                plain_log(axis, *sorted(axis.get_view_interval()))


def whole_ticks(axis: Axis, places: npt.ArrayLike | None = None) -> None:
    """Allow only whole numbers as ticks: each of a few places, or a regular choice of many."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

    whole = None if places is None else np.asarray(places, dtype=np.float64)
    if whole is not None and len(whole) <= 12:
        axis.set_major_locator(FixedLocator(whole.tolist()))
        axis.set_major_formatter(FuncFormatter(lambda value, _=None: plain(value)))
    else:
        axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
