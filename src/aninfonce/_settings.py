"""The base of all settings that come from Python, JSON or YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, model_validator


class Settings(BaseModel):
    """Base of all settings: immutable; unknown names and infinite numbers are errors, and yes is no 1."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _no_truth_for_numbers(cls, data: Any) -> Any:
        """Let pydantic refuse true and false where a number is wanted: it takes them for 1 and 0."""
        if not isinstance(data, dict):
            return data
        fields = cls.model_fields
        # As texts they are no numbers, and the error is that of their own field.
        return {
            name: str(value).lower()
            if isinstance(value, bool) and name in fields and _wants_number(fields[name].annotation)
            else value
            for name, value in data.items()
        }


def by_path(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Name nested settings by their whole path.

    >>> by_path({"recipe": {"steps": 500}, "seed": 0})
    {'recipe.steps': 500, 'seed': 0}
    """
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= by_path(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return flat


def _wants_number(kind: Any) -> bool:
    """Whether a type is of numbers, and not also of truth values."""
    kinds, found = [kind], []
    while kinds:
        # Options of a union, and what stands behind an annotation.
        found.append(kinds.pop())
        kinds += get_args(found[-1])
    return (int in found or float in found) and bool not in found and str not in found
