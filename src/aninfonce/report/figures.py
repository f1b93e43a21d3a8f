"""Plots of the studies as files and as text to put into a page."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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

    """

    name: str
    description: str
    svg: bytes
    png: bytes

    @classmethod
    def of(cls, name: str, description: str, figure: Figure) -> Plot:
        """Render a figure in both formats."""
        return cls(name, description, _render(figure, "svg"), _render(figure, "png"))

    @property
    def data_uri(self) -> str:
        """The drawing as the source of an image, so that the page needs no other file."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode()

    def save(self, directory: Path) -> None:
        """Write it in both formats."""
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{self.name}.svg").write_bytes(self.svg)
        (directory / f"{self.name}.png").write_bytes(self.png)


def draw(section: Section) -> list[Plot]:
    """Draw all figures of a section; none if nothing succeeded."""
    if not section.rows:
        return []
    return [
        Plot.of(f"{section.slug}-{name}", f"{section.study.title}: {name}", figure)
        for name, figure in section.study.plot(section.rows).items()
    ]


def _render(figure: Figure, kind: str) -> bytes:
    import matplotlib

    file = io.BytesIO()
    # Text stays text, and the same rows give the same bytes.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "aninfonce"}):
        figure.savefig(file, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()
