"""Options of the losses that a configuration can name, each with its type."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, PositiveFloat, StrictBool, model_validator

from aninfonce._settings import Settings

# As the losses have them, whose modules take seconds to import.
Candidates = Literal["anchors", "anchors+self", "positives", "both", "none"]
PositiveMap = Literal["exp", "softplus"]
Concentration = Literal["one", "per-anchor"]


class _Temperature(Settings):
    """Options of every loss; a step needs a single number, so `reduction="none"` is not allowed."""

    temperature: PositiveFloat = 1.0
    learn_temperature: StrictBool = False
    reduction: Literal["mean", "sum"] = "mean"
    gather_distributed: StrictBool = True


class _Contrast(_Temperature):
    symmetric: StrictBool = False
    candidates: Candidates = "anchors"
    normalize: StrictBool = False


class _Anisotropic(_Contrast):
    concentration: Concentration = "one"
    initial: PositiveFloat | tuple[PositiveFloat, ...] = 1.0
    positive_map: PositiveMap = "exp"
    potential: StrictBool = False
    # Kinds of pairs that take turns in a batch, each with a Λ̂ of its own.
    kinds: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _one_head(self) -> Self:
        if self.kinds > 1 and self.concentration == "per-anchor":
            raise ValueError("`concentration` must be 'one' for several kinds of pairs")
        return self


class _Lp(_Contrast):
    p: Annotated[float, Field(ge=1.0)] = 2.0


class _Dynamics(_Temperature):
    candidates: Candidates = "anchors"
    normalize: StrictBool = False
    potential: StrictBool = True


_OPTIONS: dict[str, type[Settings]] = {
    "aninfonce": _Anisotropic,
    "infonce": _Contrast,
    "lp": _Lp,
    "nt-xent": _Temperature,
    "linear-dynamics": _Dynamics,
}


def checked_options(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Check the options of a loss by name; pydantic raises for unknown ones and for wrong types.

    Example:
        >>> checked_options("infonce", {"temperature": "5e-1"})
        {'temperature': 0.5}

    Args:
        name: of the loss; the options of "custom" are not known here, and not checked.
        options: as given.

    Returns:
        The same options, converted to their types.

    """
    if name not in _OPTIONS:
        return options
    return _OPTIONS[name].model_validate(options).model_dump(exclude_unset=True)
