"""Figures as bytes, and as elements of a page whose marks show their numbers."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Literal
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from aninfonce.plots._axes import Axes, Axis, Figure, plain_logs
from aninfonce.plots.schemes import for_both_schemes

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
# In a cloud of points no single number is worth reading, and titles would make the page large.
_MOST = 400


def render(figure: Figure, kind: Literal["svg", "png"]) -> bytes:
    """Draw a figure as bytes: the same for equal figures, with text as text, and no tick as a power of ten.

    >>> from matplotlib.figure import Figure
    >>> render(Figure(), "png")[1:4]
    b'PNG'
    """
    import matplotlib

    plain_logs(figure)
    file = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "aninfonce"}):
        figure.savefig(file, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()


def inline_svg(figure: Figure, name: str, description: str) -> str:
    """Draw a figure as an element of a page; ids of its lines begin with `name`, unique on that page."""
    texts = name_points(figure, name)
    return inline(render(figure, "svg"), texts, description)


def name_points(figure: Figure, prefix: str) -> dict[str, list[str]]:
    """Give every line with marks an id that starts with a prefix; returns the texts of its marks by id."""
    texts: dict[str, list[str]] = {}
    for axes in figure.axes:
        for line in axes.lines:
            if line.get_marker() in (None, "", " ", "None", "none") or len(_points(line)) > _MOST:
                continue
            line.set_gid(f"{prefix}-{len(texts)}")
            texts[f"{prefix}-{len(texts)}"] = _texts(axes, line)
    return texts


def inline(svg: bytes, texts: dict[str, list[str]], description: str) -> str:
    """Turn a drawing into an element of a page, with a title on each mark and colours for both schemes.

    The texts are those of `name_points`, the description is for readers who cannot see it.
    """
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        if "style" in element.attrib:
            element.set("style", for_both_schemes(element.attrib["style"]))
    # Never wider than the page around it; text without a colour of its own takes that of the drawing.
    # A page may keep it from becoming too small to read by its own width.
    own = f"--own-width: {root.get('width', '')}"
    root.set("style", for_both_schemes(f"{own}; max-width: 100%; height: auto; fill: #000000"))
    root.set("role", "img")
    root.set("aria-label", description)
    for group in root.iter(f"{{{_SVG}}}g"):
        marks = list(group.iter(f"{{{_SVG}}}use"))
        named = texts.get(group.get("id", ""), [])
        # Matplotlib leaves out clipped marks, and the rest can then no longer be matched with their texts.
        if len(named) == len(marks):
            for mark, text in zip(marks, named, strict=True):
                ElementTree.SubElement(mark, f"{{{_SVG}}}title").text = text
    return ElementTree.tostring(root, encoding="unicode")


def _texts(axes: Axes, line: Line2D) -> list[str]:
    label = str(line.get_label())
    start = "" if label.startswith("_") else f"{label}\n"
    return [f"{start}{_value(axes.xaxis, x)}\n{_value(axes.yaxis, y)}" for x, y in _points(line)]


def _points(line: Line2D) -> NDArray[np.float64]:
    return np.asarray(line.get_xydata(), dtype=np.float64)


def _value(axis: Axis, value: float) -> str:
    """Name a place on an axis, by its tick where ticks are words."""
    from matplotlib.ticker import FixedLocator, FuncFormatter

    formatter = axis.get_major_formatter()
    # Ticks that were given words look them up by place, and find nothing elsewhere.
    if isinstance(axis.get_major_locator(), FixedLocator) and isinstance(formatter, FuncFormatter):
        word = formatter(value)
        if word:
            return word
    return f"{axis.get_label_text()} {value:.4g}".strip()
