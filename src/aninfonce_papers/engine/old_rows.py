"""Rows that were written before an experiment was one typed value: their configurations are flat.

The file beside this one has two digests for each experiment that had committed rows, all of the preset
"laptop" with nothing changed: that of the flat configuration, and that of the experiment. A row whose digest
is the first is one of the experiment, as long as the experiment is still the one of the second.

`python -m aninfonce_papers.engine.old_rows` writes the second digests anew. Run it only if all settings still
mean what they meant.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

from pydantic import JsonValue

from aninfonce_papers.engine.experiment import Experiment
from aninfonce_papers.engine.registry import find_study
from aninfonce_papers.engine.row import Metrics, Preset, Row, configuration_key

_FILE = Path(__file__).with_name("old_rows.json")
_PRESET: Preset = "laptop"


def brought_up_to_date(row: Row) -> Row:
    """Give an old row with the configuration of its experiment as it is now; any other row as it is."""
    if "score" in row.configuration or row.preset != _PRESET:
        return row
    before, now = _digests().get(row.study, {}).get(row.cell, ("", ""))
    if digest(row.configuration) != before:
        return row
    experiment = _experiments(row.study).get(row.cell)
    if experiment is None or digest(experiment.identity) != now:
        return row
    return row.model_copy(update={"configuration": experiment.configuration})


def digest(configuration: Metrics) -> str:
    """Shorten a configuration to a hash of twelve characters."""
    return hashlib.sha256(configuration_key(configuration).encode()).hexdigest()[:12]


@cache
def _digests() -> dict[str, dict[str, tuple[str, str]]]:
    found: dict[str, dict[str, tuple[str, str]]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


@cache
def _experiments(study: str) -> dict[str, Experiment]:
    return {found.name: found for found in find_study(study).experiments(_PRESET)}


if __name__ == "__main__":
    lines = []
    for study, cells in _digests().items():
        known: dict[str, JsonValue] = {
            cell: [before, digest(_experiments(study)[cell].identity)] for cell, (before, _) in cells.items()
        }
        lines.append(f' "{study}": {json.dumps(known, ensure_ascii=False)}')
    _FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
