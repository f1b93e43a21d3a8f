"""What the audit says about one question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Finding:
    """A number, how well it is known, and what to do about it.

    Attributes:
        name: short, for code and links.
        title: for readers.
        measure: what the number is, in a few words.
        value: the number.
        interval: 95 % interval of it.
        concern: whether something is wrong, or lost.
        advice: one sentence.
        details: further numbers, as JSON types.
        draw: paints the plot on an axis.

    """

    name: str
    title: str
    measure: str
    value: float
    interval: tuple[float, float]
    concern: bool
    advice: str
    details: dict[str, Any] = field(default_factory=dict)
    draw: Callable[[Axes], None] = field(default=lambda axis: None, repr=False, compare=False)

    def figure(self) -> Figure:
        """Draw the plot."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 3.4), layout="constrained")
        axis = figure.subplots()
        self.draw(axis)
        axis.spines[["top", "right"]].set_visible(False)
        return figure

    def to_dict(self) -> dict[str, Any]:
        """Everything but the plot, as JSON types."""
        names = ("name", "title", "measure", "value", "interval", "concern", "advice", "details")
        return {name: getattr(self, name) for name in names}
