"""Colours of drawings on light and on dark pages."""

from __future__ import annotations

import colorsys
import re

PAPER, INK = {"light": "#ffffff", "dark": "#14171c"}, {"light": "#1b2330", "dark": "#e6e9ee"}
"""Background and text of all pages, as in `templates/style.css`."""

_COLOUR = re.compile(r"\b(fill|stroke): (#[0-9a-f]{6})\b")
# A colour whose parts differ by less than this is a grey; above this lightness it is a background.
_GREY, _TINT = 0.12, 0.82
# Black and white would get these lightnesses as colours of marks on a dark page.
_DARKEST, _LIGHTEST = 0.46, 0.88


def on_dark(colour: str) -> str:
    """Give the colour `#rrggbb` for a dark page that corresponds to one for white paper.

    Greys and pale backgrounds are inverted, so that text stays readable; colours keep their hue, and are
    lightened without changing their order.

    >>> on_dark("#ffffff"), on_dark("#000000"), on_dark("#1c64a8")
    ('#14171c', '#e6e9ee', '#5aa0e3')
    """
    parts = _parts(colour)
    hue, light, saturation = colorsys.rgb_to_hls(*parts)
    if max(parts) - min(parts) < _GREY:
        # The middle greys, of lines and remarks, stay nearer to the ink than to the paper.
        ends = zip(_parts(INK["dark"]), _parts(PAPER["dark"]), strict=True)
        return _text(*(ink + (paper - ink) * light**1.5 for ink, paper in ends))
    light = 1.1 - light if light > _TINT else _DARKEST + (_LIGHTEST - _DARKEST) * light
    return _text(*colorsys.hls_to_rgb(hue, light, saturation))


def for_both_schemes(style: str) -> str:
    """Let the colours of an element's style follow the scheme of the page.

    Where a browser does not know `light-dark`, or the page has no dark scheme, they stay as they are.

    >>> for_both_schemes("fill: #ffffff; opacity: 0.5")
    'fill: #ffffff; fill: light-dark(#ffffff, #14171c); opacity: 0.5'
    """
    return _COLOUR.sub(
        lambda found: f"{found[0]}; {found[1]}: light-dark({found[2]}, {on_dark(found[2])})", style
    )


def _parts(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return red, green, blue


def _text(*parts: float) -> str:
    return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in parts)
