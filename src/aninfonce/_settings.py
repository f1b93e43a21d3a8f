"""The base of all settings that come from Python, JSON or YAML."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """Base of all settings: unknown names and infinite numbers are errors, nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
