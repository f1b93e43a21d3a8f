"""Rows that were written before an experiment was one typed value: their configurations are flat.

The file beside this one has the digest of each such configuration that was ever committed, by study and
experiment. All of them are of the preset "laptop" with nothing changed, so that a digest that matches says
which experiment it is.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

from pydantic import JsonValue

from aninfonce_papers.engine.row import Preset, Row, configuration_key

_FILE = Path(__file__).with_name("old_rows.json")
_PRESET: Preset = "laptop"


def brought_up_to_date(row: Row) -> Row:
    """Give an old row with the configuration of its experiment as it is now; any other row as it is."""
    if "score" in row.configuration or row.preset != _PRESET:
        return row
    if _digests().get(row.study, {}).get(row.cell) != digest(row):
        return row
    return row.model_copy(update={"configuration": _configurations(row.study)[row.cell]})


def digest(row: Row) -> str:
    """Shorten a configuration to a few letters."""
    return hashlib.sha256(configuration_key(row.configuration).encode()).hexdigest()[:12]


@cache
def _digests() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


@cache
def _configurations(study: str) -> dict[str, dict[str, JsonValue]]:
    from aninfonce_papers.engine.registry import find_study

    return {found.name: found.configuration for found in find_study(study).experiments(_PRESET)}
