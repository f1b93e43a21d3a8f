"""Pages that need no other file and no network: their templates, and plots to put into them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aninfonce._files import write_whole
from aninfonce.plots._axes import Figure, plain
from aninfonce.plots.drawing import inline, name_points, render

if TYPE_CHECKING:
    from jinja2 import Template

_HERE = "aninfonce.plots"


@dataclass(frozen=True)
class PagePlot:
    """A drawn figure.

    Attributes:
        name: of the file, without ending.
        description: for readers who cannot see it.
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
    def of(cls, name: str, description: str, figure: Figure) -> PagePlot:
        """Render a figure in both formats."""
        texts = name_points(figure, name)
        svg = render(figure, "svg")
        return cls(name, description, svg, render(figure, "png"), inline(svg, texts, description))

    def save(self, directory: Path) -> None:
        """Write it in both formats."""
        write_whole(directory / f"{self.name}.svg", self.svg)
        write_whole(directory / f"{self.name}.png", self.png)


def page_template(
    name: str, package: str = _HERE, filters: Mapping[str, Callable[..., str]] | None = None
) -> Template:
    """Load a page's template, with the filter `short` that writes numbers.

    Args:
        name: of its file in the package's folder `templates`.
        package: that has it; what it includes, such as `style.css`, may also come from this package.
        filters: further ones, by name.

    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(place) for place in dict.fromkeys((package, _HERE))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"short": short, **(filters or {})}
    return environment.get_template(name)


def short(number: float) -> str:
    """Write a number in three digits, as people do.

    >>> short(0.98765), short(-12.345), short(1e6), short(float("inf"))
    ('0.988', '−12.3', '1000000', '∞')
    """
    return plain(number, digits=3)
