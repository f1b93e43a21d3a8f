"""What a study is: a grid of experiments at each size, its plots, and what to say about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aninfonce_papers.engine.experiment import Experiment
from aninfonce_papers.engine.row import USUAL, Preset, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Study:
    """A table or figure that can be run by name.

    Attributes:
        name: such as "fig2".
        title: in a few words.
        paper: where it comes from.
        source: of the values to compare with.
        experiments: the grid at a preset's size.
        plot: figures by name, from rows that were run.
        reference: what the values to compare with are called.
        presets: sizes that it has.
        remarks: why values differ from the published ones, a sentence or two each.

    """

    name: str
    title: str
    paper: str
    source: str
    experiments: Callable[[Preset], Sequence[Experiment]]
    plot: Callable[[Sequence[Row]], dict[str, Figure]]
    reference: str = "published"
    presets: tuple[Preset, ...] = USUAL
    remarks: tuple[str, ...] = ()
