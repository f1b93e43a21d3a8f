"""Plots of the studies as files and as text to put into a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aninfonce._files import write_whole
from aninfonce.plots.drawing import render
from aninfonce.plots.hover import inline, name_points
from aninfonce.report.compare import Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Plot:
    """A drawn figure.

    Attributes:
        name: of the file, without ending.
        description: what a reader who cannot see it is told.
        svg: the drawing.
        png: the same in pixels.
        inline: the drawing as an element of a page, which shows the numbers of its marks.

    """

    name: str
    description: str
    svg: bytes
    png: bytes
    inline: str

    @classmethod
    def of(cls, name: str, description: str, figure: Figure) -> Plot:
        """Render a figure in both formats."""
        texts = name_points(figure, name)
        svg = render(figure, "svg")
        return cls(name, description, svg, render(figure, "png"), inline(svg, texts, description))

    def save(self, directory: Path) -> None:
        """Write it in both formats."""
        write_whole(directory / f"{self.name}.svg", self.svg)
        write_whole(directory / f"{self.name}.png", self.png)


def draw(section: Section) -> list[Plot]:
    """Draw all figures of a section; none if nothing succeeded."""
    if not section.rows:
        return []
    return [
        Plot.of(f"{section.slug}-{name}", f"{section.study.title}: {name}", figure)
        for name, figure in section.study.plot(section.rows).items()
    ]
