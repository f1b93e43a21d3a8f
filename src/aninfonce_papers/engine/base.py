"""What a study is: a grid of cells, the values to compare with, how one cell is run, and its plots."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from aninfonce.extending import check_choice

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

Preset = Literal["smoke", "laptop", "paper"]
PRESETS: tuple[Preset, ...] = ("smoke", "laptop", "paper")

# Numbers, lists and texts only: whatever is here comes back from a JSON file as it was.
Metrics = dict[str, Any]
Configuration = dict[str, Any]


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
    goal: Literal["higher", "lower", "equal", "target", "shown"] = "higher"
    target: float | None = None

    def __post_init__(self) -> None:
        check_choice(self.goal, "goal", ("higher", "lower", "equal", "target", "shown"))
        if (self.goal == "target") != (self.target is not None):
            raise ValueError(f"`target` goes with goal='target', got goal={self.goal!r}, {self.target}")


@dataclass(frozen=True)
class Cell:
    """One point of a study's grid.

    Attributes:
        name: unique in the study.
        parameters: what makes it this cell; cannot be changed.
        settings: sizes of the run, such as steps, which `--set` can change.
        published: value to compare with, by metric.
        estimate: rough seconds of one run on one core.
        published_with: settings that the values to compare with belong to, such as the data set; none are
            left if one of these is changed.

    """

    name: str
    parameters: Configuration
    settings: Configuration
    published: Mapping[str, Published] = field(default_factory=dict)
    estimate: float = 1.0
    published_with: Configuration = field(default_factory=dict)

    @property
    def configuration(self) -> Configuration:
        """Everything that decides the outcome, but the seed."""
        return {**self.parameters, **self.settings}

    @property
    def key(self) -> str:
        """The configuration as text: equal for equal configurations."""
        return configuration_key(self.configuration)


def configuration_key(configuration: Mapping[str, Any]) -> str:
    """Write a configuration in one canonical way.

    >>> configuration_key({"b": (1, 2), "a": 0.5})
    '{"a": 0.5, "b": [1, 2]}'
    """
    return json.dumps(configuration, sort_keys=True)


@dataclass(frozen=True)
class Study:
    """A table or figure that can be run by name.

    Attributes:
        name: such as "fig2".
        title: in a few words.
        paper: where it comes from.
        source: of the values to compare with.
        cells: the grid at a preset's size.
        run: runs one cell; a pure function of its arguments, importable by name.
        plot: figures by name, from rows that were run.
        reference: what the values to compare with are called.
        remarks: why values differ from the published ones, a sentence or two each.

    """

    name: str
    title: str
    paper: str
    source: str
    cells: Callable[[Preset], Sequence[Cell]]
    run: Callable[[Cell, int], Metrics]
    plot: Callable[[Sequence[Row]], dict[str, Figure]]
    reference: str = "published"
    remarks: tuple[str, ...] = ()


ANINFONCE = "Rusak et al., “InfoNCE: Identifying the Gap Between Theory and Practice” (2025)"
CL_ICA = "Zimmermann et al., “Contrastive Learning Inverts the Data Generating Process” (2021)"
