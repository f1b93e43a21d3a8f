"""An experiment as one typed value: its pairs, encoder, loss, recipe, score, and the values to compare with.

Each part is a pydantic model, so that `--set recipe.steps=500` edits a path that is checked, and the whole is
written to JSON in one canonical way, which is the experiment's key in a results file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SerializeAsAny, ValidationError
from torch import nn

from aninfonce.extending import Settings, Space, did_you_mean
from aninfonce.training import Recipe, TrainingConfig
from aninfonce_papers.engine.published import Published
from aninfonce_papers.engine.row import Metrics, Preset, configuration_key

_Model = TypeVar("_Model", bound=BaseModel)


class Part(Settings):
    """A piece of an experiment: frozen, checked, and named after its class in the experiment's key."""


class Pairs(Part):
    """Where pairs come from."""

    @property
    def held_out(self) -> float:
        """Share of a data set that training does not see, to evaluate on; a process draws new pairs."""
        return 0.1


class Encoder(Part):
    """An encoder of the library by name, and where its embedding lives.

    Attributes:
        name: one of `aninfonce.encoders.encoder_names()`; the recipe's own if omitted.
        space: of the embedding.
        dim: its columns; those of the process if omitted.

    """

    name: str | None = None
    space: Space = "sphere"
    dim: int | None = None


class Loss(Part):
    """A loss of the library by name; a subclass builds one of its own.

    Attributes:
        name: "aninfonce", "infonce", "lp" or "nt-xent"; "custom" for one that `module` builds.
        options: of that loss. With the recipe "paper", Λ̂ of AnInfoNCE is a softplus, as in the authors' code.

    """

    name: str = "aninfonce"
    options: dict[str, JsonValue] = Field(default_factory=dict)

    def module(self, dim: int, seed: int) -> nn.Module | None:
        """Build what the library has no name for; None for what it has."""
        return None


class Watch(Part):
    """How often a training run is measured, and saved.

    Attributes:
        logs: how often the loss is logged, in all.
        evaluations: how often held-out pairs are scored, in all; 0 for never.
        least: steps between two of them, at least.
        pairs: to evaluate on.
        checkpoint_every: steps between two checkpoints; 0 for none.

    """

    logs: int = 40
    evaluations: int = 40
    least: int = 10
    pairs: int = 4_096
    checkpoint_every: int = 0


class Score(Part):
    """What is done with the other parts, and what is measured."""

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Run the experiment and measure it; the seed decides every random number that we draw."""
        raise NotImplementedError


class Experiment(Settings):
    """One point of a study's grid.

    Attributes:
        name: unique in the study.
        pairs: where they come from.
        encoder: what is trained.
        loss: what is minimised.
        recipe: how; None if nothing is trained, or not with the library's recipe.
        watch: how often the training is measured, and saved.
        score: how the experiment is run and measured.
        published: values to compare with, by metric.
        judged_if: paths, and the values that they must have for published values to count, such as the name
            of the data set; otherwise published values are shown without a verdict.
        seconds: rough time of one run on one core.

    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str
    pairs: SerializeAsAny[Pairs]
    encoder: SerializeAsAny[Encoder] | None = None
    loss: SerializeAsAny[Loss] | None = None
    recipe: Recipe | None = None
    watch: Watch = Watch()
    score: SerializeAsAny[Score]
    published: dict[str, Published] = Field(default_factory=dict)
    judged_if: Mapping[str, JsonValue] = Field(default_factory=dict)
    seconds: float = 1.0

    @property
    def configuration(self) -> dict[str, JsonValue]:
        """All settings but the seed; defaults are written out, since they may change."""
        return self._parts(exclude_defaults=False)

    @property
    def identity(self) -> dict[str, JsonValue]:
        """The settings that differ from their defaults: the same even after a part gets a new setting."""
        return self._parts(exclude_defaults=True)

    def _parts(self, *, exclude_defaults: bool) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {}
        for name in _PARTS:
            part = getattr(self, name)
            if part is not None:
                kind = {"kind": type(part).__name__} if isinstance(part, Part) else {}
                found[name] = {**kind, **part.model_dump(mode="json", exclude_defaults=exclude_defaults)}
        return found

    @property
    def key(self) -> str:
        """The configuration as text: equal for equal configurations."""
        return configuration_key(self.configuration)

    def run(self, seed: int) -> Metrics:
        """Run and measure it."""
        return self.score.run(self, seed)

    def edited(self, path: str, value: JsonValue) -> Self:
        """Change one setting.

        >>> from aninfonce_papers.engine import find_study
        >>> first = find_study("fig2").experiments("smoke")[0]
        >>> first.edited("recipe.steps", 500).recipe.steps
        500

        Args:
            path: such as "recipe.steps".
            value: the new one. A `ValueError` says if it is bad, or names close paths if the path is unknown.

        Returns:
            The experiment with that change.

        """
        try:
            return _edited(self, path.split("."), value)
        except ValidationError as problems:
            (problem, *_) = problems.errors()
            message = problem["msg"].removeprefix("Value error, ")
            raise ValueError(f"`set` {path}: {message}, got {value!r}") from None
        except KeyError:
            paths = self.paths()
            raise ValueError(
                f"`set` must name a setting such as recipe.steps, got {path!r}{did_you_mean(path, paths)}"
            ) from None

    def paths(self) -> list[str]:
        """List the paths that `edited` knows."""
        return [path for name in _PARTS for path in _paths(getattr(self, name), name)]

    def known_values(self, preset: Preset) -> dict[str, Published]:
        """Give the values to compare with; those that do not count for this run are only shown."""
        if preset != "smoke" and all(attrgetter(path)(self) == v for path, v in self.judged_if.items()):
            return self.published
        return {name: replace(value, goal="shown", target=None) for name, value in self.published.items()}

    def training_config(self, seed: int) -> TrainingConfig:
        """Turn the experiment into the library's settings of a training; this is done nowhere else."""
        assert self.encoder is not None
        assert self.loss is not None
        assert self.recipe is not None
        steps, watch = self.recipe.steps, self.watch
        paper = self.recipe.name == "paper"
        options = dict(self.loss.options)
        if paper and self.loss.name == "aninfonce":
            options = {"positive_map": "softplus", **options}
        name = self.encoder.name or ("paper-mlp" if paper else "mlp")
        return TrainingConfig.model_validate(
            {
                "recipe": self.recipe,
                "encoder": name,
                "space": self.encoder.space,
                "dim": self.encoder.dim,
                "loss": {"name": self.loss.name, "options": options},
                "seed": seed,
                "log_every": max(watch.least, steps // watch.logs),
                "evaluate_every": watch.evaluations and max(watch.least, steps // watch.evaluations),
                "evaluation_pairs": watch.pairs,
                "held_out": self.pairs.held_out,
                "checkpoint_every": watch.checkpoint_every,
            }
        )


_PARTS = ("pairs", "encoder", "loss", "recipe", "watch", "score")


def _edited(model: _Model, path: Sequence[str], value: JsonValue) -> _Model:
    """Change one field, or one field of a part of it, and check the whole anew."""
    first, *rest = path
    fields = {name: getattr(model, name) for name in type(model).model_fields}
    if first not in fields or (isinstance(model, Experiment) and first not in _PARTS):
        raise KeyError(first)
    changed: Any = value
    if rest:
        inner = fields[first]
        if isinstance(inner, BaseModel):
            changed = _edited(inner, rest, value)
        elif isinstance(inner, dict) and len(rest) == 1 and rest[0] in inner:
            changed = {**inner, rest[0]: value}
        else:
            raise KeyError(rest[0])
    return type(model).model_validate({**fields, first: changed})


def _paths(part: object, prefix: str) -> list[str]:
    if isinstance(part, BaseModel):
        inner: Mapping[str, object] = {name: getattr(part, name) for name in type(part).model_fields}
    elif isinstance(part, dict):
        inner = part
    else:
        return [prefix]
    return [path for name, value in inner.items() for path in _paths(value, f"{prefix}.{name}")]
