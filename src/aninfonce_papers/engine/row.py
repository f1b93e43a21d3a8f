"""The outcome of one run of one experiment: a line of a results file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, JsonValue

from aninfonce_papers.engine.published import Published

Preset = Literal["smoke", "laptop", "overnight", "paper"]
# In the order of their sizes. "overnight" is for studies of pictures; every study has the others.
PRESETS: tuple[Preset, ...] = ("smoke", "laptop", "overnight", "paper")
USUAL: tuple[Preset, ...] = ("smoke", "laptop", "paper")

# Numbers, lists and texts only: whatever is here comes back from a JSON file as it was.
Metrics = Mapping[str, JsonValue]
# Study, experiment, seed and configuration: the question that a row answers.
Key = tuple[str, str, int, str]


# Names that rows keep, and what readers see in their place.
_SHOWN = {"mass to move": "total variation distance"}


def shown_name(metric: str) -> str:
    """Give the name of a metric for readers.

    >>> shown_name("mass to move"), shown_name("R²")
    ('total variation distance', 'R²')
    """
    return _SHOWN.get(metric, metric)


def configuration_key(configuration: Metrics) -> str:
    """Write a configuration in one canonical way.

    >>> configuration_key({"b": [1, 2], "a": 0.5})
    '{"a": 0.5, "b": [1, 2]}'
    """
    return json.dumps(configuration, sort_keys=True)


class Row(BaseModel):
    """One run.

    Attributes:
        study: its name.
        cell: name of the experiment.
        seed: of everything random in it.
        preset: size of the study.
        configuration: all settings but the seed.
        metrics: what was measured; empty if it failed.
        published: values to compare with, by metric, with the verdicts that this run allows.
        seconds: that it took.
        finished: when, in UTC.
        versions: of the software.
        warnings: that were given.
        error: why it failed, if it did.

    """

    model_config = ConfigDict(frozen=True, strict=True)

    study: str
    cell: str
    seed: int
    preset: Preset
    configuration: dict[str, JsonValue]
    metrics: dict[str, JsonValue]
    published: dict[str, Published]
    seconds: float
    versions: dict[str, str]
    error: str | None
    finished: str = ""
    warnings: list[str] = []

    @property
    def key(self) -> Key:
        """Say which question the row answers."""
        return self.study, self.cell, self.seed, configuration_key(self.configuration)

    @property
    def is_judged(self) -> bool:
        """Whether any published value counts for this run, rather than being only shown."""
        return any(known.goal != "shown" for known in self.published.values())

    def number(self, metric: str) -> float:
        """Give a metric that is a number."""
        return float(cast(float, self.metrics[metric]))

    def numbers(self, metric: str) -> list[float]:
        """Give a metric that is a list of numbers."""
        return cast(list[float], self.metrics[metric])

    def texts(self, metric: str) -> list[str]:
        """Give a metric that is a list of texts."""
        return cast(list[str], self.metrics[metric])

    def curve(self, name: str) -> tuple[list[float], list[float]]:
        """Give the steps at which something was measured in training, and its values there."""
        curves = cast(dict[str, list[float]], self.metrics["curves"])
        return curves["steps"], curves[name]
