"""Everything that decides a training run, as data: validated, in JSON or YAML, kept in every checkpoint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    NonNegativeInt,
    PositiveInt,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from aninfonce._settings import Settings
from aninfonce._validation import brief, plain
from aninfonce.recipe import Recipe
from aninfonce.training.loss_options import checked_options
from aninfonce.training.yaml_files import read_yaml

# Limits on an error message about bad settings.
_MOST_PROBLEMS, _LONGEST_NAME = 20, 100
_TYPE = re.compile(r"^constrained-|\[")

Space = Literal["auto", "flat", "sphere", "learnable-sphere", "box", "unbounded"]
# Kept in JSON, so numpy's numbers become Python's.
Options = Annotated[dict[str, Any], BeforeValidator(plain)]


class EncoderSettings(Settings):
    """An encoder by name.

    Attributes:
        name: one of `aninfonce.encoders.encoder_names()`, or "custom" for a module given in Python.
        options: of that encoder; sizes of input and output are filled in from the data.

    """

    name: str = "mlp"
    options: Options = Field(default_factory=dict)


class LossSettings(Settings):
    """A loss by name.

    Attributes:
        name: "aninfonce", "infonce" (inner product), "lp" (−‖Δ‖ₚᵖ), "nt-xent", "linear-dynamics", or
            "custom" for a module given in Python.
        options: of that loss, such as `temperature` or `p`.

    """

    name: Literal["aninfonce", "infonce", "lp", "nt-xent", "linear-dynamics", "custom"] = "aninfonce"
    options: Options = Field(default_factory=dict)

    @field_validator("options")
    @classmethod
    def _known_and_of_their_types(cls, options: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        return checked_options(info.data.get("name", "custom"), options)

    @property
    def per_anchor(self) -> bool:
        """Whether each anchor has a Λ̂ of its own."""
        return self.name == "aninfonce" and self.options.get("concentration") == "per-anchor"


class DataSettings(Settings):
    """Where pairs come from, for the command line.

    Attributes:
        process: name of a preset (`aninfonce.processes.preset_names()`).
        options: fields of the preset to change.
        seed: draws the mixing.
        arrays: an .npz, .csv or .parquet file with `x` and `x_pos` instead of a process, and `z` if latents
            are known.
        sha256: of that file; `train` fills it in. A file with another content is refused.

    """

    process: str | None = None
    options: Options = Field(default_factory=dict)
    seed: int = 0
    arrays: Path | None = None
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.process is None) == (self.arrays is None):
            raise ValueError("give either `process` or `arrays`")
        if self.sha256 is not None and self.arrays is None:
            raise ValueError("`sha256` belongs to `arrays`, which are not given")
        return self


class TrainingConfig(Settings):
    """All settings of a run.

    Example:
        >>> config = TrainingConfig(seed=3, recipe={"steps": 500})
        >>> config.recipe.muon_lr, TrainingConfig.model_validate_json(config.model_dump_json()) == config
        (0.1, True)
        >>> TrainingConfig(recipe="paper").encoder.name
        'paper-mlp'

    Attributes:
        data: where pairs come from, if not given in Python.
        dim: d, columns of the embedding; that of the process if not given.
        space: where the embedding lives. "flat" is Rᵈ with a candidate potential, for latents of any
            distribution, and ends with columns of unit variance; "sphere" is the papers' unit sphere; "auto"
            decides between the two after the first part of the steps, by the shape of the embedding.
            "learnable-sphere" and "box" have trained sizes; "unbounded" is Rᵈ as it comes.
        encoder: the network that the head follows.
        loss: what is minimised.
        recipe: how it is minimised.
        seed: draws the weights and the pairs.
        log_every: steps between two rows of the log.
        evaluate_every: steps between two evaluations on held-out pairs (R² if latents are known, the gap to
            the optimal loss, the effective rank); 0 for none.
        evaluation_pairs: pairs to evaluate on, at most.
        held_out: share of the pairs in arrays, loaders or sequences, or of the images, that is kept for
            evaluations, at most `evaluation_pairs`. With 0 all are trained on, and evaluations use training
            pairs. A process always draws new pairs for evaluations.
        checkpoint_every: steps between two checkpoints; 0 for the end only (before the closing
            fits and after them).

    """

    data: DataSettings | None = None
    dim: PositiveInt | None = None
    space: Space = "sphere"
    encoder: EncoderSettings = EncoderSettings()
    loss: LossSettings = LossSettings()
    recipe: Recipe = Recipe()
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    log_every: PositiveInt = 50
    evaluate_every: NonNegativeInt = 250
    evaluation_pairs: Annotated[int, Field(ge=256)] = 4096
    held_out: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.1
    checkpoint_every: NonNegativeInt = 500

    @field_validator("encoder", "loss", mode="before")
    @classmethod
    def _a_name_will_do(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def _the_papers_recipe_brings_its_encoder(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        recipe = data.get("recipe")
        name = recipe if isinstance(recipe, str) else None
        if isinstance(recipe, Recipe):
            name = recipe.name
        elif isinstance(recipe, dict):
            name = recipe.get("name")
        if name != "paper":
            return data
        loss = {"name": "aninfonce", "options": {"positive_map": "softplus"}}
        return {"encoder": {"name": "paper-mlp"}, "loss": loss, **data}

    @property
    def unfolds(self) -> bool:
        """Whether training starts without the sphere."""
        return self.recipe.unfold is not None and self.aligns and self.space in ("sphere", "auto")

    @property
    def closes(self) -> bool:
        """Whether axes and Λ̂ are found after the last step, and a sphere is made round."""
        return self.recipe.close is not None and self.aligns

    @property
    def aligns(self) -> bool:
        """Whether loss and space have axes that can be found: AnInfoNCE, in flat space or on the sphere.

        The fits for the sphere know one Λ̂ only.
        """
        spaces = ("flat",) if self.loss.per_anchor else ("sphere", "flat", "auto")
        return self.loss.name == "aninfonce" and self.space in spaces


def load_config(path: str | Path) -> TrainingConfig:
    """Read a configuration from a YAML (or JSON) file.

    Args:
        path: the file.

    Returns:
        The validated configuration; relative paths in it start at the file's folder, and come out whole. A
        `ValueError` lists every unknown key and bad value.

    """
    data = read_yaml(Path(path))
    if not isinstance(data, dict):
        raise ValueError(f"{path} must hold settings such as `recipe: fast`, got {type(data).__name__}")
    config = parse_config(data, source=str(path))
    if config.data is None or config.data.arrays is None:
        return config
    # Whole, so that it means the same to every command, wherever that is called.
    arrays = (Path(path).parent / config.data.arrays).resolve()
    return config.model_copy(update={"data": config.data.model_copy(update={"arrays": arrays})})


def stored_config(settings: dict[str, Any], *, source: str = "configuration") -> TrainingConfig:
    """Read the settings of a saved run. Versions without `held_out` held nothing out."""
    return parse_config({"held_out": 0.0, **settings}, source=source)


def identity(config: TrainingConfig) -> dict[str, Any]:
    """Give the settings that decide a run, as JSON types.

    Where arrays lie does not, if their content is known: a folder may be moved before its run goes on.
    """
    settings = config.model_dump(mode="json")
    if config.data is not None and config.data.sha256 is not None:
        settings["data"]["arrays"] = None
    return settings


def parse_config(
    data: dict[str, Any], *, source: str = "configuration", names: Mapping[str, str] | None = None
) -> TrainingConfig:
    """Validate settings given as a dictionary; problems come as one readable `ValueError`.

    Args:
        data: the settings.
        source: where they are from, for the message.
        names: what settings are called there, such as `{"recipe.steps": "max_steps"}`.

    """
    try:
        return TrainingConfig.model_validate(data)
    except ValidationError as problems:
        raise ValueError(f"{source}: {describe_problems(problems, names)}") from None


def _called(setting: str, names: Mapping[str, str]) -> str:
    """Replace the name of a setting, or of its parent, by the name that the user knows."""
    for known in sorted(names, key=len, reverse=True):
        if setting == known or setting.startswith(f"{known}."):
            return names[known] + setting.removeprefix(known)
    return setting


def describe_problems(problems: ValidationError, names: Mapping[str, str] | None = None) -> str:
    """Write each problem that pydantic found as one line, with settings renamed as in `parse_config`."""
    found = problems.errors()
    lines = []
    for problem in found[:_MOST_PROBLEMS]:
        # Where several types are allowed, pydantic puts the type that it tried among the names.
        parts = [str(part)[:_LONGEST_NAME] for part in problem["loc"] if not _TYPE.search(str(part))]
        where = _called(".".join(parts), names or {}) or "settings"
        if problem["type"] == "extra_forbidden":
            lines.append(f"`{where}` is not a known setting")
        else:
            message = problem["msg"].removeprefix("Value error, ")
            lines.append(f"`{where}`: {message}, got {brief(problem['input'])}")
    if len(found) > _MOST_PROBLEMS:
        lines.append(f"and {len(found) - _MOST_PROBLEMS} more")
    return "\n  ".join(["", *lines]) if len(lines) > 1 else lines[0]
