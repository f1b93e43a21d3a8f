"""Is the network worth it? A linear map trained on the same pairs is the floor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from aninfonce.estimator.comparing import held_out_bits, standard_error
from aninfonce.estimator.fitting import Trained, train_on_kinds

# A linear map is found within this many steps, and does not learn by heart: nothing would end it early.
_STEPS = 600
# Standard errors that a network must be ahead by.
_CLEARLY = 2.0


class NonlinearGain(NamedTuple):
    """What a network tells about held-out pairs beyond the best linear map.

    Attributes:
        bits: a pair.
        error: standard error, by blocks of the same pairs.
        linear: whether the linear map was kept: the network was not ahead by two standard errors.

    """

    bits: float
    error: float
    linear: bool


def linear_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Change the parameters of an estimator to those of a linear map in flat space."""
    kept = {name: value for name, value in parameters["encoder_options"].items() if name != "hidden"}
    steps = min(parameters["max_steps"] or _STEPS, _STEPS)
    changes = {"space": "flat", "encoder_options": {**kept, "depth": 0}, "n_init": 1, "max_steps": steps}
    return {**parameters, **changes}


def no_worse_than_linear(
    run: Trained, parameters: Mapping[str, Any], seed: int, *, device: str
) -> tuple[Trained, NonlinearGain | None]:
    """Keep a linear map in the place of a network that is not clearly ahead of it.

    A network always bends what it is given a little, to fit the noise of its pairs. Where the data are linear
    in their factors, or too few for more, the linear map is nearer to the factors: of 4800 rows of a linear
    mixture the network ends at R² .97, the linear map at 1.00.

    Args:
        run: of a network.
        parameters: of the estimator, `checked`.
        seed: of the run.
        device: by torch's name.

    Returns:
        The run to keep, and the comparison; None where there is nothing to compare: without held-out pairs,
        with a network other than the estimator's own, or on a sphere, where linear maps do not live.

    """
    choice = run.fitted.choice
    space = run.fitted.config.space if choice is None else choice.space
    is_network = parameters["encoder"] == "mlp" and parameters["encoder_options"].get("depth") != 0
    if run.held_out is None or not is_network or space != "flat" or parameters["loss"] != "aninfonce":
        return run, None
    settings = linear_settings({**parameters, "n_components": run.fitted.config.dim})
    linear = train_on_kinds(run.kinds, run.held_out, settings, seed, device=device)
    ahead = held_out_bits(run) - held_out_bits(linear)
    error = standard_error(ahead)
    gain = NonlinearGain(float(ahead.mean()), error, bool(ahead.mean() < _CLEARLY * error))
    if not gain.linear:
        return run, gain
    # Where the factors live was found by the network, and stays known.
    return linear._replace(fitted=replace(linear.fitted, choice=choice)), gain
