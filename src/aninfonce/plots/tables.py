"""Small tables for notebooks: HTML that takes the colours of the page around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

# Notebooks are light or dark, and only their own colours say which.
_CELL = "padding:.2em .7em;border-bottom:1px solid rgba(128,128,128,.35)"


def html_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Sequence[int] = (),
    min_width: str = "0",
) -> str:
    """Write a table; long ones scroll in place.

    Example:
        >>> "<td" in html_table(["column"], [["<0>"]]), "&lt;0&gt;" in html_table(["column"], [["<0>"]])
        (True, True)

    Args:
        headings: one per column.
        rows: texts, one per column; escaped here.
        numbers: columns that are aligned to the right.
        min_width: in CSS, below which a narrow page scrolls the table instead of squeezing it.

    """

    def line(kind: str, cells: Sequence[str]) -> str:
        sides = ["right" if place in numbers else "left" for place in range(len(cells))]
        return "".join(
            f'<{kind} style="{_CELL};text-align:{side}">{escape(text)}</{kind}>'
            for side, text in zip(sides, cells, strict=True)
        )

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    return (
        '<div style="overflow:auto;max-height:26em">'
        f'<table style="border-collapse:collapse;margin:.6em 0;min-width:{min_width}">'
        f"<thead><tr>{line('th', headings)}</tr></thead><tbody>{body}</tbody></table></div>"
    )
