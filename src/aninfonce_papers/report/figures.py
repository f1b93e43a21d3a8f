"""Plots of the studies as files and as text to put into a page."""

from __future__ import annotations

from aninfonce.extending import PagePlot
from aninfonce_papers.report.compare import Section


def draw(section: Section) -> list[PagePlot]:
    """Draw all figures of a section; none if nothing succeeded."""
    if not section.rows:
        return []
    return [
        PagePlot.of(f"{section.slug}-{name}", f"{section.study.title}: {name}", figure)
        for name, figure in section.study.plot(section.rows).items()
    ]
