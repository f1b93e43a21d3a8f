"""Everything that decides a training run, as data: validated, in JSON or YAML, kept in every checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    field_validator,
    model_validator,
)

from aninfonce.processes.config import Settings

Share = Annotated[float, Field(gt=0.0, lt=1.0)]
Momentum = Annotated[float, Field(ge=0.0, lt=1.0)]


class Unfolding(Settings):
    """How the sphere is unfolded: train in all of Rᵈ first, then map to the sphere and train on.

    Attributes:
        share: of the steps that are trained in Rᵈ.
        again: shares of the steps at which the embedding is mapped to a round sphere once more.
        pairs: drawn to find the map.

    """

    share: Share = 0.5
    again: tuple[Share, ...] = ()
    pairs: Annotated[int, Field(ge=1000)] = 32_768


class Closing(Settings):
    """What is fitted on the frozen embedding after the last step.

    Attributes:
        pairs: drawn for the sphere and for the full metric whose eigenvectors align the axes.
        concentration_pairs: drawn for the final Λ̂.
        block: pairs that are each other's negatives in these fits.
        iterations: of each fit, at most.

    """

    pairs: Annotated[int, Field(ge=1000)] = 65_536
    concentration_pairs: Annotated[int, Field(ge=1000)] = 131_072
    block: Annotated[int, Field(ge=2)] = 1024
    iterations: PositiveInt = 15


class Recipe(Settings):
    """How the weights are found; the defaults are the recipe "fast".

    Attributes:
        name: the recipe that fields which are not given come from.
        whiten: put a fixed map in front of the encoder that decorrelates its inputs, estimated once on 16 384
            of them; for inputs of many dimensions.
        steps: of the optimiser.
        batch_size: pairs a step, over all processes together.
        growth: (share of the steps, batch size from there on).
        optimizer: "muon" for hidden matrices and Adam for the rest, "adam" for all, or "lars".
        muon_lr: rate for hidden matrices.
        muon_momentum: their momentum.
        muon_iterations: Newton–Schulz steps that orthogonalise it.
        muon_refresh: steps of the optimiser between two such calculations. 2 saves time and
            costs exactness.
        lars_lr: rate of LARS, SimCLR's optimiser for large batches.
        lars_decay: its weight decay.
        adam_lr: rate of Adam on the rest of the encoder.
        adam_betas: of Adam.
        concentration_lr: rate of Adam on the loss's own parameters, Λ̂ first of all.
        warmup: steps over which all rates rise linearly.
        decay: of all rates to zero at the last step, or "none".
        unfold: the phase without the sphere; used for AnInfoNCE on the sphere.
        close: the closing fits; used for AnInfoNCE on the sphere.

    """

    name: Literal["fast", "paper"] = "fast"
    whiten: bool = False
    steps: PositiveInt = 2000
    batch_size: Annotated[int, Field(ge=2)] = 512
    growth: tuple[tuple[Share, PositiveInt], ...] = ((0.5, 1024),)
    optimizer: Literal["muon", "adam", "lars"] = "muon"
    muon_lr: PositiveFloat = 0.1
    muon_momentum: Momentum = 0.95
    muon_iterations: PositiveInt = 4
    muon_refresh: PositiveInt = 1
    lars_lr: PositiveFloat = 0.3
    lars_decay: NonNegativeFloat = 1e-6
    adam_lr: PositiveFloat = 8e-3
    adam_betas: tuple[Momentum, Momentum] = (0.9, 0.99)
    concentration_lr: PositiveFloat = 1e-2
    warmup: NonNegativeInt = 50
    decay: Literal["linear", "cosine", "none"] = "linear"
    unfold: Unfolding | None = Unfolding()
    close: Closing | None = Closing()

    @model_validator(mode="before")
    @classmethod
    def _start_from_the_named_recipe(cls, data: Any) -> Any:
        if isinstance(data, str):
            data = {"name": data}
        if isinstance(data, dict) and data.get("name") == "paper":
            return {**PAPER, **data}
        return data


# Both papers: Adam with no schedule, and the logs' batch of the AnInfoNCE experiments.
PAPER: dict[str, Any] = {
    "name": "paper",
    "steps": 100_000,
    "batch_size": 1000,
    "growth": (),
    "optimizer": "adam",
    "adam_lr": 1e-4,
    "adam_betas": (0.9, 0.999),
    "concentration_lr": 1e-3,
    "warmup": 0,
    "decay": "none",
    "unfold": None,
    "close": None,
}


class EncoderSettings(Settings):
    """An encoder by name.

    Attributes:
        name: one of `aninfonce.encoders.encoder_names()`, or "custom" for a module given in Python.
        options: of that encoder; sizes of input and output are filled in from the data.

    """

    name: str = "mlp"
    options: dict[str, Any] = Field(default_factory=dict)


class LossSettings(Settings):
    """A loss by name.

    Attributes:
        name: "aninfonce", "infonce" (inner product), "lp" (−‖Δ‖ₚᵖ), "nt-xent", or "custom" for a module
            given in Python.
        options: of that loss, such as `temperature` or `p`.

    """

    name: Literal["aninfonce", "infonce", "lp", "nt-xent", "custom"] = "aninfonce"
    options: dict[str, Any] = Field(default_factory=dict)


class DataSettings(Settings):
    """Where pairs come from, for the command line.

    Attributes:
        process: name of a preset (`aninfonce.processes.preset_names()`).
        options: fields of the preset to change.
        seed: draws the mixing.
        arrays: an .npz file with `x` and `x_pos` instead of a process, and `z` if latents are known.

    """

    process: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    seed: int = 0
    arrays: Path | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.process is None) == (self.arrays is None):
            raise ValueError("give either `process` or `arrays`")
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
        space: where the embedding lives; it decides the encoder's last step.
        encoder: the network below that step.
        loss: what is minimised.
        recipe: how.
        seed: draws the weights and the pairs.
        log_every: steps between two rows of the log.
        evaluate_every: steps between two evaluations on held-out pairs (R² if latents are known, the gap to
            the optimal loss, the effective rank); 0 for none.
        evaluation_pairs: held-out pairs; of arrays and loaders, pairs that are also trained on.
        checkpoint_every: steps between two checkpoints; 0 for one at the end only.

    """

    data: DataSettings | None = None
    dim: Annotated[int, Field(ge=2)] | None = None
    space: Literal["sphere", "learnable-sphere", "box", "unbounded"] = "sphere"
    encoder: EncoderSettings = EncoderSettings()
    loss: LossSettings = LossSettings()
    recipe: Recipe = Recipe()
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    log_every: PositiveInt = 50
    evaluate_every: NonNegativeInt = 250
    evaluation_pairs: Annotated[int, Field(ge=256)] = 4096
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
        return self.recipe.unfold is not None and self._anisotropic_on_sphere

    @property
    def closes(self) -> bool:
        """Whether sphere, axes and Λ̂ are fitted after the last step."""
        return self.recipe.close is not None and self._anisotropic_on_sphere

    @property
    def _anisotropic_on_sphere(self) -> bool:
        return self.loss.name == "aninfonce" and self.space == "sphere"


def load_config(path: str | Path) -> TrainingConfig:
    """Read a configuration from a YAML (or JSON) file.

    Args:
        path: the file.

    Returns:
        The validated configuration. A `ValueError` lists every unknown key and bad value.

    """
    try:
        data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise ValueError(f"cannot read {path}: {problem.strerror or problem}") from None
    except yaml.YAMLError as problem:
        raise ValueError(f"{path} is not valid YAML: {problem}") from None
    if not isinstance(data, dict):
        raise ValueError(f"{path} must hold settings such as `recipe: fast`, got {type(data).__name__}")
    return parse_config(data, source=str(path))


def parse_config(data: dict[str, Any], *, source: str = "configuration") -> TrainingConfig:
    """Validate settings given as a dictionary; problems come as one readable `ValueError`."""
    try:
        return TrainingConfig.model_validate(data)
    except ValidationError as problems:
        raise ValueError(f"{source}: {describe_problems(problems)}") from None


def describe_problems(problems: ValidationError) -> str:
    """Put the findings of pydantic in one line each."""
    lines = []
    for problem in problems.errors():
        where = ".".join(str(part) for part in problem["loc"]) or "settings"
        if problem["type"] == "extra_forbidden":
            lines.append(f"`{where}` is not a known setting")
        else:
            lines.append(f"`{where}`: {problem['msg']}, got {problem['input']!r}")
    return "\n  ".join(["", *lines]) if len(lines) > 1 else lines[0]
