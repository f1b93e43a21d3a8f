"""A value to compare with, and the two papers that most of them come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aninfonce.extending import check_choice

Goal = Literal["higher", "lower", "equal", "target", "shown"]

ANINFONCE = "Rusak et al., “InfoNCE: Identifying the Gap Between Theory and Practice” (2025)"
CL_ICA = "Zimmermann et al., “Contrastive Learning Inverts the Data Generating Process” (2021)"


@dataclass(frozen=True)
class Published:
    """A value to compare with.

    >>> Published(99.42, 0.05, precision=0.005)
    Published(value=99.42, spread=0.05, precision=0.005, goal='higher', target=None)

    Attributes:
        value: as printed.
        spread: its standard deviation over seeds, if printed.
        precision: half the last digit, or how well a figure can be read.
        goal: "higher" or "lower" is better, "equal" is meant to come out the same, "target" is better the
            nearer it is to `target`, "shown" is put beside ours without a verdict.
        target: the true value, for that goal.

    """

    value: float
    spread: float = 0.0
    precision: float = 0.0
    goal: Goal = "higher"
    target: float | None = None

    def __post_init__(self) -> None:
        check_choice(self.goal, "goal", ("higher", "lower", "equal", "target", "shown"))
        if (self.goal == "target") != (self.target is not None):
            raise ValueError(f"`target` goes with goal='target', got goal={self.goal!r}, {self.target}")
