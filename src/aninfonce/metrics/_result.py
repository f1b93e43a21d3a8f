"""The common shape of a metric's answer: frozen, readable, never NaN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_short, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_short(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, np.ndarray):
        return f"<array {'×'.join(map(str, value.shape))}>"
    return repr(value)


@dataclass(frozen=True, repr=False)
class Result:
    """Base of all results; its repr rounds to four digits and leaves out what is empty."""

    def __repr__(self) -> str:
        shown = ((field.name, getattr(self, field.name)) for field in fields(self) if field.repr)
        body = ", ".join(
            f"{name}={_short(value)}"
            for name, value in shown
            if not (value is None or (isinstance(value, tuple | Mapping) and not value))
        )
        return f"{type(self).__name__}({body})"
