"""Rows that were written by earlier versions of an experiment.

A setting that a part of an experiment got later had its default in rows that do not have it.

Rows from before an experiment was one typed value have flat configurations. The file beside this one has two
digests for each experiment that had committed rows, all of the preset "laptop" with nothing changed: that of
the flat configuration, and that of the experiment. A row whose digest is the first is one of the experiment,
as long as the experiment is still the one of the second.

`python -m aninfonce_papers.engine.old_rows` writes the second digests anew. Run it only if all settings still
mean what they meant.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

from pydantic import BaseModel, JsonValue

from aninfonce_papers.engine.experiment import Experiment
from aninfonce_papers.engine.registry import find_study, study_names
from aninfonce_papers.engine.row import Metrics, Preset, Row, configuration_key

_FILE = Path(__file__).with_name("old_rows.json")
_PRESET: Preset = "laptop"


def brought_up_to_date(row: Row) -> Row:
    """Give an old row with the configuration of its experiment as it is now; any other row as it is."""
    if "score" in row.configuration:
        return _with_later_settings(row)
    if row.preset != _PRESET:
        return row
    before, now = _digests().get(row.study, {}).get(row.cell, ("", ""))
    if digest(row.configuration) != before:
        return row
    experiment = _experiments(row.study, _PRESET).get(row.cell)
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


def _with_later_settings(row: Row) -> Row:
    experiment = _experiments(row.study, row.preset).get(row.cell)
    if experiment is None:
        return row
    filled = {
        name: _filled(part, getattr(experiment, name, None)) for name, part in row.configuration.items()
    }
    return row.model_copy(update={"configuration": filled})


def _filled(part: JsonValue, now: object) -> JsonValue:
    """Give the settings of a part with those that it got later, if it is of the same kind still."""
    if not isinstance(part, dict) or not isinstance(now, BaseModel):
        return part
    if part.get("kind", type(now).__name__) != type(now).__name__:
        return part
    later = {
        name: field.get_default(call_default_factory=True)
        for name, field in type(now).model_fields.items()
        if name not in part and not field.is_required()
    }
    return {**part, **now.model_copy(update=later).model_dump(mode="json", include=set(later))}


@cache
def _experiments(study: str, preset: Preset) -> dict[str, Experiment]:
    """Give the experiments of a study; none of one that is not ours, or does not have the preset."""
    if study not in study_names(own_data=True):
        return {}
    found = find_study(study)
    return {one.name: one for one in found.experiments(preset)} if preset in found.presets else {}


if __name__ == "__main__":
    lines = []
    for study, cells in _digests().items():
        known: dict[str, JsonValue] = {
            cell: [before, digest(_experiments(study, _PRESET)[cell].identity)]
            for cell, (before, _) in cells.items()
        }
        lines.append(f' "{study}": {json.dumps(known, ensure_ascii=False)}')
    _FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
