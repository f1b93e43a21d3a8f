"""From the estimator's parameters to the settings of a training run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state
from torch import nn

from aninfonce._validation import check_choice, check_count, check_number, describe, plain
from aninfonce.encoders import encoder_names
from aninfonce.estimator.pairs import Pairs
from aninfonce.training.config import TrainingConfig, parse_config

_SPACES = ("auto", "flat", "sphere", "learnable-sphere", "box", "unbounded")
# A sphere in one dimension is two points.
_SPHERES = ("sphere", "learnable-sphere")
_STARTS = ("random", "geodesic")
# Where a start in Rᵈ is the start of what is trained.
_SPACES_TO_UNROLL = ("auto", "flat", "unbounded")
_LOSSES = ("aninfonce", "infonce", "lp", "nt-xent")
# Rates of `partial_fit`, which has no end to decay to, as a share of the recipe's highest.
_ONLINE_RATE = 0.1
# With more passes over the same pairs the network memorises them: found on 3000 pairs of ten factors, where
# the held-out score is best near 30 passes and far below zero at 70.
_PASSES = 30
_FEWEST_STEPS = 100
# How much hidden layers bend, as the slope of their units: 1 would be a straight line.
BENT = {"slope": 0.2}
_LESS_BENT = {"slope": 0.5}
# A linear map is found within this many steps, and memorises nothing: no early stopping would end it.
_LINEAR_STEPS = 600
# Parameters that the settings of a run have other names for.
_NAMES = {
    "dim": "n_components",
    "recipe.steps": "max_steps",
    "recipe.batch_size": "batch_size",
    "recipe.whiten": "whiten",
    "loss.name": "loss",
    "loss.options": "loss_options",
    "encoder.name": "encoder",
    "encoder.options": "encoder_options",
}
# How messages from training name things, and how a user of the estimator knows them.
_OWN_NAMES = {
    **{f"`{name}`": f"`{own}`" for name, own in _NAMES.items()},
    "`options` of the encoder": "`encoder_options` of",
    "several kinds of pairs": "several lags",
    "parameters of the estimator: ": "",
}


@contextmanager
def own_names() -> Iterator[None]:
    """Let errors from training name the parameters of the estimator."""
    try:
        yield
    except ValueError as problem:
        message = str(problem)
        for name, own in _OWN_NAMES.items():
            message = message.replace(name, own)
        if message == str(problem):
            raise
        raise ValueError(message) from None


def checked(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Check the parameters of an estimator by their own names; numpy's numbers come back as Python's."""
    found = dict(parameters)
    for name, fewest in (("max_steps", 1), ("batch_size", 2), ("patience", 1)):
        if found[name] is not None:
            found[name] = check_count(found[name], name, minimum=fewest)
    for name in ("validation_fraction", "input_dropout"):
        found[name] = check_number(found[name], name)
        if not 0.0 <= found[name] < 1.0:
            raise ValueError(f"`{name}` must lie in [0, 1), got {found[name]:g}")
    names = [("space", _SPACES), ("loss", _LOSSES), ("gaps", ("error", "skip")), ("start", _STARTS)]
    if not isinstance(found["encoder"], nn.Module):
        names.append(("encoder", encoder_names()))
    for name, choices in names:
        check_choice(found[name], name, choices)
    if found["start"] == "geodesic" and found["space"] not in _SPACES_TO_UNROLL:
        raise ValueError(
            f"`start` must be 'random' unless `space` is one of {_SPACES_TO_UNROLL}, got 'geodesic' and"
            f" {found['space']!r}"
        )
    fewest = fewest_columns(found)
    if _is_auto(found["n_components"]):
        if isinstance(found["encoder"], nn.Module):
            raise ValueError("`n_components` must be the number of columns that `encoder` gives, got 'auto'")
    else:
        found["n_components"] = check_count(found["n_components"], "n_components", minimum=fewest)
    _check_dynamics(found)
    found["window"] = check_count(found["window"], "window")
    if found["window"] % 2 == 0:
        raise ValueError(f"`window` must be odd, so that it has a middle row, got {found['window']}")
    found["lag"] = _checked_lags(found["lag"], found["window"])
    if found["rate"] is not None:
        found["rate"] = check_number(found["rate"], "rate", minimum=0.0, exclusive=True)
    found["refits"] = check_count(found["refits"], "refits", minimum=0)
    found["n_init"] = check_count(found["n_init"], "n_init")
    if not isinstance(found["whiten"], bool | np.bool_) and found["whiten"] != "scale":
        raise ValueError(f"`whiten` must be True, False or 'scale', got {describe(found['whiten'])}")
    found["whiten"] = "scale" if found["whiten"] == "scale" else bool(found["whiten"])
    for name in ("encoder_options", "loss_options"):
        if not isinstance(found[name], Mapping | None):
            raise ValueError(f"`{name}` must be a dictionary of options, got {describe(found[name])}")
        found[name] = plain(dict(found[name] or {}))
    if isinstance(found["encoder"], nn.Module) and found["encoder_options"]:
        raise ValueError(
            "`encoder_options` must be None where `encoder` is a module of your own, got"
            f" {describe(found['encoder_options'])}"
        )
    _check_concentration(found)
    if isinstance(found["recipe"], str):
        found["recipe"] = {"name": found["recipe"]}
    if not isinstance(found["recipe"], Mapping):
        raise ValueError(
            f"`recipe` must be a name or a dictionary of settings, got {describe(found['recipe'])}"
        )
    found["recipe"] = plain(dict(found["recipe"]))
    return found


def draw_seed(random_state: Any) -> int:
    """Draw the seed of a run, as scikit-learn's estimators do."""
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as problem:
        raise ValueError(f"`random_state` must be a number, a RandomState or None: {problem}") from None


def fewest_columns(parameters: Mapping[str, Any]) -> int:
    """Give the smallest number of columns that the parameters allow."""
    return 2 if parameters["space"] in _SPHERES or parameters["loss"] != "aninfonce" else 1


def _check_dynamics(found: dict[str, Any]) -> None:
    """Require what linear dynamics need, and settle their space."""
    if found["dynamics"] is None:
        return
    check_choice(found["dynamics"], "dynamics", ("linear",))
    wanted = {"space": ("auto", "flat"), "loss": ("aninfonce",), "refits": (0,)}
    for name, allowed in wanted.items():
        if found[name] not in allowed:
            raise ValueError(f"`{name}` must be {allowed[-1]!r} for dynamics='linear', got {found[name]!r}")
    if isinstance(found["lag"], Iterable) and not isinstance(found["lag"], str):
        raise ValueError(f"`lag` must be one number for dynamics='linear', got {found['lag']!r}")
    found["space"] = "flat"


def _check_concentration(found: dict[str, Any]) -> None:
    """Require what a Λ̂ for each anchor needs, and settle its space; `loss_options` may ask for it too."""
    found["concentration"] = found["loss_options"].pop("concentration", found["concentration"])
    check_choice(found["concentration"], "concentration", ("one", "per-anchor"))
    if found["concentration"] == "one":
        return
    for name, wanted in (("loss", "aninfonce"), ("dynamics", None)):
        if found[name] != wanted:
            raise ValueError(
                f"`{name}` must be {wanted!r} for concentration='per-anchor', got {found[name]!r}"
            )
    if found["space"] == "auto":
        found["space"] = "flat"


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _checked_lags(lag: Any, window: int) -> tuple[int, ...] | Literal["auto"]:
    """Give lags as a tuple: None is the shortest at which windows have no row in common."""
    if _is_auto(lag):
        return "auto"
    if lag is None:
        return (window,)
    if isinstance(lag, str) or not isinstance(lag, Iterable):
        lag = [lag]
    if isinstance(lag, Set | Mapping):
        # Λ̂ of the first lag is `concentration_`, and a set has no first.
        raise ValueError(f"`lag` must be a whole number, a list of them or 'auto', got {describe(lag)}")
    lags = tuple(check_count(value, "lag") for value in lag)
    if not lags or len(set(lags)) < len(lags):
        raise ValueError(f"`lag` must be a whole number, several different ones or 'auto', got {lags}")
    if min(lags) < window:
        raise ValueError(
            f"`lag` must be at least the window of {window} rows, or the two sides of a pair share rows"
            f" whose noise gives them away, got {min(lags)}"
        )
    return lags


def training_config(
    kinds: Sequence[Pairs], parameters: Mapping[str, Any], seed: int, *, few_passes: bool = True
) -> TrainingConfig:
    """Build the settings of `fit`, with batches that the number of pairs allows.

    Args:
        kinds: one or more kinds of pairs. Pictures among them are not whitened.
        parameters: of the estimator, by name, `checked`.
        seed: of the run.
        few_passes: whether to take no more steps than a few passes over the pairs if no number was asked for:
            where nothing is held out, nothing else keeps a network from memorising them.

    Returns:
        The settings; a `ValueError` names a bad parameter.

    """
    pictures = kinds[0].frames.rows.ndim == 4
    recipe = {**parameters["recipe"], "whiten": parameters["whiten"] if not pictures else False}
    if parameters["input_dropout"]:
        recipe["input_dropout"] = parameters["input_dropout"]
    if parameters["max_steps"] is not None:
        recipe["steps"] = parameters["max_steps"]
    if parameters["batch_size"] is not None:
        recipe |= {"batch_size": parameters["batch_size"], "growth": ()}
    own = isinstance(parameters["encoder"], nn.Module)
    if pictures and not own and parameters["encoder"] in ("mlp", "paper-mlp"):
        raise ValueError(
            "`encoder` must take pictures where X is (N, C, H, W): 'small-conv', 'resnet18' or a module of"
            f" your own, got {parameters['encoder']!r}"
        )
    given: dict[str, Any] = {
        "dim": parameters["n_components"],
        "space": parameters["space"],
        "recipe": recipe,
        "seed": seed,
        "evaluate_every": 0,
        "checkpoint_every": 0,
        "evaluation_pairs": 256,
        # The estimator holds out pairs of its own.
        "held_out": 0.0,
    }
    for name in ("loss",) if own else ("loss", "encoder"):
        asked = parameters[f"{name}_options"]
        if name == "loss" and parameters["concentration"] != "one":
            asked = {"concentration": parameters["concentration"], **asked}
        options = {**_usual_options(parameters, parameters[name]), **asked}
        # The recipe "paper" brings a loss and an encoder of its own, unless others are asked for.
        if recipe.get("name") != "paper" or asked or parameters[name] not in ("aninfonce", "mlp"):
            given[name] = {"name": parameters[name], "options": dict(options)}
    if parameters["dynamics"] is not None:
        given["loss"] = {"name": "linear-dynamics", "options": dict(parameters["loss_options"])}
    if len(kinds) > 1:
        if parameters["loss"] != "aninfonce":
            raise ValueError(f"`loss` must be 'aninfonce' for several lags, got {parameters['loss']!r}")
        given["loss"]["options"] = {**given["loss"]["options"], "kinds": len(kinds)}
    with own_names():
        config = parse_config(given, source="parameters of the estimator", names=_NAMES)
    few_passes = few_passes and not asks_for_steps(parameters)
    return _fit_to_size(config, len(kinds) * min(map(len, kinds)), few_passes=few_passes)


def _usual_options(parameters: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Give the estimator's defaults for the options of a network or loss.

    What users observe is often nearly linear in its factors: so the last layer sees the inputs beside the
    hidden units, and these bend less. On a sphere, where maps fold, and wherever nothing starts from a linear
    map, they bend as much as they do elsewhere.
    """
    if name != "mlp":
        return {}
    starts_linear = parameters["start"] == "random" and parameters["dynamics"] is None
    nearly_linear = starts_linear and parameters["space"] in ("auto", "flat")
    return {"skip": True, **(_LESS_BENT if nearly_linear else BENT)}


def linear_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Change the parameters of an estimator to those of a linear map in flat space."""
    kept = {name: value for name, value in parameters["encoder_options"].items() if name != "hidden"}
    steps = min(parameters["max_steps"] or _LINEAR_STEPS, _LINEAR_STEPS)
    changes = {"space": "flat", "encoder_options": {**kept, "depth": 0}, "n_init": 1, "max_steps": steps}
    # Where the data are bent, a Λ̂ for each anchor would make up for what a linear map cannot bend back.
    return {**parameters, **changes, "concentration": "one"}


def asks_for_steps(parameters: Mapping[str, Any]) -> bool:
    """Whether a number of steps was asked for."""
    return parameters["max_steps"] is not None or "steps" in parameters["recipe"]


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
