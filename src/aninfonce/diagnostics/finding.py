"""What the audit says about one question, and how a verdict follows from an interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

from aninfonce.diagnostics.intervals import Interval
from aninfonce.plots._axes import Axes, Figure, new_axes

if TYPE_CHECKING:
    from aninfonce.diagnostics.sample import Sample

Status = Literal["fine", "concern", "undetermined", "not judged"]

_GRAVITY: tuple[Status, ...] = ("not judged", "fine", "undetermined", "concern")


@dataclass(frozen=True)
class Finding:
    """A number, how well it is known, and what to do about it.

    Attributes:
        measure: what the number is, in a few words.
        value: the number; None if it has no value, such as a ratio to something that may be 0.
        interval: its 95 % interval, with an infinite upper end if nothing bounds it; None if not judged.
        status: "fine" or "concern" if the whole interval says so, "undetermined" if it allows both, "not
            judged" if the question makes no sense here.
        advice: one sentence.
        details: further numbers, as JSON types.
        draw: paints the plot on an axis; None if there is nothing to paint.
        name: short, for code and links.
        title: for readers.

    """

    measure: str
    value: float | None
    interval: Interval | None
    status: Status
    advice: str
    details: dict[str, Any] = field(default_factory=dict)
    draw: Callable[[Axes], None] | None = field(default=None, repr=False, compare=False)
    name: str = ""
    title: str = ""

    @property
    def concern(self) -> bool:
        """Whether something is surely wrong, or lost."""
        return self.status == "concern"

    def __str__(self) -> str:
        """Write it in one line: a mark, the number and the sentence."""
        mark = {"concern": "!", "undetermined": "?", "not judged": "-", "fine": " "}[self.status]
        number = f"{self.number}. " if self.number else ""
        return f"{mark} {self.title}: {number}{self.advice}"

    @property
    def number(self) -> str:
        """The number with its interval, and what it is; empty if there is none."""
        if self.interval is None:
            return ""
        low, high = self.interval
        if self.value is None or math.isinf(high):
            return f"at least {low:.3g} {self.measure}"
        return f"{self.value:.3g} [{low:.3g}, {high:.3g}] {self.measure}"

    def figure(self) -> Figure:
        """Draw the plot."""
        figure, axis = new_axes(5.2, 3.1)
        if self.draw is not None:
            self.draw(axis)
        return figure

    def to_dict(self) -> dict[str, Any]:
        """Everything but the plot, as JSON types; an end that nothing bounds is None."""
        names = ("name", "title", "measure", "value", "interval", "status", "concern", "advice", "details")
        row = {name: getattr(self, name) for name in names}
        if self.interval is not None:
            row["interval"] = [end if math.isfinite(end) else None for end in self.interval]
        return row


def judge(interval: Interval, limit: float, *, bad: Literal["above", "below"]) -> Status:
    """Give the verdict that a whole interval supports.

    Example:
        >>> judge((1.6, 2.0), 1.5, bad="above"), judge((1.1, 1.4), 1.5, bad="above")
        ('concern', 'fine')
        >>> judge((1.1, 2.0), 1.5, bad="above")
        'undetermined'

    Args:
        interval: of the number.
        limit: between good and bad.
        bad: the side of the limit that asks for attention.

    Returns:
        "undetermined" if the limit is inside.

    """
    low, high = interval if bad == "above" else (-interval[1], -interval[0])
    limit = limit if bad == "above" else -limit
    if low > limit:
        return "concern"
    return "fine" if high <= limit else "undetermined"


def gravest(*statuses: Status) -> Status:
    """Give the most serious of several verdicts: one concern is enough, and "fine" takes all of them.

    Example:
        >>> gravest("fine", "undetermined"), gravest("fine", "concern", "undetermined")
        ('undetermined', 'concern')

    """
    return max(statuses, key=_GRAVITY.index)


def cannot_tell(what: str) -> str:
    """Advise to look at more pairs where these leave open whether something is so."""
    return f"Whether {what} cannot be told from these pairs: look at more."


Look = Callable[["Sample"], Finding | None]


def titled(title: str, *, needs: str | None = None) -> Callable[[Callable[[Sample], Finding]], Look]:
    """Turn a function from a sample to a finding into a question of the audit.

    The function says in its docstring what counts as a concern. Of a constant embedding only the collapse is
    judged: no other number means anything there.

    Args:
        title: for readers.
        needs: attribute of the sample without which there is no such finding.

    """

    def decorate(look: Callable[[Sample], Finding]) -> Look:
        @wraps(look)
        def ask(sample: Sample) -> Finding | None:
            if needs is not None and getattr(sample, needs) is None:
                return None
            if sample.constant and look.__name__ != "collapse":
                found = not_judged("the embedding is constant, so mend the collapse first")
            else:
                found = look(sample)
            return replace(found, name=look.__name__, title=title)

        return ask

    return decorate


def not_judged(why: str, **rest: Any) -> Finding:
    """Say why a question makes no sense here; `rest` may still hold details and a plot."""
    return Finding("", None, None, "not judged", f"Not judged: {why}.", **rest)
