"""A small plot beside a claim: ours as dots with their spread, published as open rings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from aninfonce_papers.claims import Measured
from aninfonce_papers.report.numbers import value

_WIDTH, _HEIGHT, _EDGE = 140.0, 34.0, 5.0
# Over more decades than this, small values would all lie at the bottom of a linear axis.
_DECADES = 2.0


def sparkline(measured: Sequence[Measured]) -> str:
    """Draw values in the order of the claim, as SVG that shows the numbers of a value under the pointer."""
    shown = [one for one in measured if one.numbers or one.published]
    heights = [height for one in shown for height in _heights(one)]
    if not heights:
        return ""
    scale = _Scale(heights)
    step = _WIDTH / len(shown)
    marks = "".join(_mark(one, step * (place + 0.5), scale) for place, one in enumerate(shown))
    return (
        f'<svg class="spark" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" width="{_WIDTH:g}" height="{_HEIGHT:g}"'
        f' role="img" aria-label="{len(shown)} values: ours as dots, published as rings">'
        f'<path class="axis" d="M0 {_HEIGHT - 0.5:g}H{_WIDTH:g}"/>{marks}</svg>'
    )


class _Scale:
    """Puts numbers between the edges, on a logarithmic axis if they span several decades."""

    def __init__(self, numbers: Sequence[float]) -> None:
        low, high = min(numbers), max(numbers)
        self._log = low > 0 and math.log10(high / low) > _DECADES
        self._low, self._high = self._axis(low), self._axis(high)

    def __call__(self, number: float) -> float:
        if self._high == self._low:
            return _HEIGHT / 2
        share = (self._axis(number) - self._low) / (self._high - self._low)
        return _HEIGHT - _EDGE - share * (_HEIGHT - 2 * _EDGE)

    def _axis(self, number: float) -> float:
        return math.log10(number) if self._log else number


def _heights(one: Measured) -> list[float]:
    published = [one.published.value] if one.published else []
    return [*one.numbers, *published]


def _mark(one: Measured, x: float, scale: _Scale) -> str:
    marks, told = "", [f"{one.value.cell}, {one.value.metric}"]
    if one.published:
        marks += f'<circle class="theirs" cx="{x:.1f}" cy="{scale(one.published.value):.1f}" r="3.2"/>'
        told.append(f"published {value(one.published.value)}")
    if one.numbers:
        top, bottom = scale(max(one.numbers)), scale(min(one.numbers))
        if bottom - top > 1.0:
            marks += f'<path class="spread" d="M{x:.1f} {top:.1f}V{bottom:.1f}"/>'
        marks += f'<circle class="ours" cx="{x:.1f}" cy="{scale(one.mean):.1f}" r="1.9"/>'
        told.append(f"ours {value(one.mean, one.spread)}")
    return f"<g>{marks}<title>{escape(chr(10).join(told))}</title></g>"
