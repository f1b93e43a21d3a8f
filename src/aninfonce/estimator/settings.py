"""From the estimator's parameters to the settings of a training run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aninfonce._validation import describe
from aninfonce.training.config import TrainingConfig, parse_config

# Rates of `partial_fit`, which has no end to decay to, as a share of the recipe's highest.
_ONLINE_RATE = 0.1
# More passes over the same pairs than this and the network learns them by heart: found on 3000 pairs of ten
# factors, where the held-out score is best near 30 passes and far below zero at 70.
_PASSES = 30
_FEWEST_STEPS = 100


def training_config(
    parameters: Mapping[str, Any], pairs: int, seed: int, *, endless: bool = False
) -> TrainingConfig:
    """Build the settings of `fit`, with batches that the number of pairs allows.

    Args:
        parameters: of the estimator, by name.
        pairs: at hand.
        seed: of the run.
        endless: whether new pairs are drawn all the time, so that there is nothing to learn by heart.

    Returns:
        The settings; a `ValueError` names a bad parameter.

    """
    recipe = parameters["recipe"]
    if isinstance(recipe, str):
        recipe = {"name": recipe}
    if not isinstance(recipe, Mapping):
        raise ValueError(f"`recipe` must be a name or a dictionary of settings, got {describe(recipe)}")
    recipe = {**recipe, "whiten": parameters["whiten"]}
    if parameters["max_steps"] is not None:
        recipe["steps"] = parameters["max_steps"]
    if parameters["batch_size"] is not None:
        recipe |= {"batch_size": parameters["batch_size"], "growth": ()}
    given: dict[str, Any] = {
        "dim": parameters["n_components"],
        "space": parameters["space"],
        "recipe": recipe,
        "seed": seed,
        "evaluate_every": 0,
        "checkpoint_every": 0,
        "evaluation_pairs": 256,
    }
    for name in ("loss", "encoder"):
        options = parameters.get(f"{name}_options") or {}
        # The recipe "paper" brings a loss and an encoder of its own, unless others are asked for.
        if recipe.get("name") != "paper" or options or parameters[name] not in ("aninfonce", "mlp"):
            given[name] = {"name": parameters[name], "options": dict(options)}
    config = parse_config(given, source="parameters of the estimator")
    return _fit_to_size(config, pairs, few_passes=parameters["max_steps"] is None and not endless)


def _fit_to_size(config: TrainingConfig, pairs: int, *, few_passes: bool) -> TrainingConfig:
    """Clip batches to the number of pairs and, if asked, the steps to a few passes over them."""
    recipe = config.recipe
    changes: dict[str, Any] = {
        "batch_size": min(recipe.batch_size, pairs),
        "growth": tuple((share, min(size, pairs)) for share, size in recipe.growth),
    }
    if few_passes:
        sizes = [changes["batch_size"], *(size for _, size in changes["growth"])]
        passes = round(_PASSES * pairs * len(sizes) / sum(sizes))
        changes["steps"] = min(recipe.steps, max(_FEWEST_STEPS, passes))
    changes["warmup"] = min(recipe.warmup, changes.get("steps", recipe.steps) // 4)
    assert config.dim is not None
    # Too few points to tell the shape of a sphere: train on it from the start, and leave it at that.
    if pairs < 4 * config.dim:
        changes |= {"unfold": None, "close": None}
    return config.model_copy(
        update={
            "recipe": recipe.model_copy(update=changes),
            "log_every": max(1, changes.get("steps", recipe.steps) // 200),
        }
    )


def online_config(config: TrainingConfig, pairs: int) -> TrainingConfig:
    """Change the settings to one pass over a few pairs, at constant rates."""
    recipe = config.recipe
    batch = min(recipe.batch_size, pairs)
    changes = {
        "batch_size": batch,
        "growth": (),
        "steps": max(1, pairs // batch),
        "unfold": None,
        "close": None,
        "warmup": 0,
        "decay": "none",
        **{name: _ONLINE_RATE * getattr(recipe, name) for name in ("muon_lr", "adam_lr", "concentration_lr")},
    }
    return config.model_copy(update={"recipe": recipe.model_copy(update=changes), "log_every": 1})
