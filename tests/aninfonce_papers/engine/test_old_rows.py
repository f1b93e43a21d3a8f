"""Rows from before an experiment was one typed value: each committed one finds its experiment."""

import json
from pathlib import Path

import pytest

from aninfonce_papers.engine import ResultStore, Row, find_study, old_rows, plan, remaining
from aninfonce_papers.engine.old_rows import brought_up_to_date

RESULTS = Path(__file__).parents[3] / "results"


@pytest.fixture(scope="module")
def lines():
    return [json.loads(line) for line in (RESULTS / "results.jsonl").read_text().splitlines()]


def test_every_committed_row_is_that_of_an_experiment(lines):
    rows = ResultStore(RESULTS).rows()
    assert len(rows) == len(lines)
    grids = {
        (name, preset): {found.name: found for found in find_study(name).experiments(preset)}
        for name, preset in {(row.study, row.preset) for row in rows}
    }
    for row, line in zip(rows, lines, strict=True):
        study, cell, seed, key = row.key
        found = grids[study, row.preset][cell]
        if row.preset == "overnight":
            # Cut short perhaps, and in the precision of the machine that ran it.
            for path in ("recipe.steps", "encoder.precision"):
                part, name = path.split(".")
                if part in row.configuration:
                    found = found.edited(path, row.configuration[part][name])
        assert key == found.key, "settings changed: see aninfonce_papers/engine/old_rows.py"
        assert (study, cell, seed) == (line["study"], line["cell"], line["seed"])
        assert row.metrics == line["metrics"]


def test_what_was_run_is_not_run_again():
    tasks = plan([find_study("fig2")], "laptop", seeds=3)
    assert remaining(tasks, ResultStore(RESULTS)) == []
    changed = plan([find_study("fig2")], "laptop", changes={"recipe.steps": 1_999})
    # The optimal loss has no recipe.
    assert len(remaining(changed, ResultStore(RESULTS))) == len(changed) - 1


def test_a_flat_configuration_that_nobody_committed_stays_as_it_is(lines):
    line = next(line for line in lines if "steps" in line["configuration"])
    other = {**line, "configuration": {**line["configuration"], "steps": 7}}
    for change in (other, {**line, "preset": "paper"}, {**line, "cell": "another"}):
        row = Row.model_validate_json(json.dumps(change))
        assert brought_up_to_date(row) == row
    assert brought_up_to_date(Row.model_validate_json(json.dumps(line))).configuration["recipe"]


def test_an_experiment_that_changed_is_another_one(lines, monkeypatch):
    line = next(line for line in lines if "steps" in line["configuration"])
    row = Row.model_validate_json(json.dumps(line))
    assert brought_up_to_date(row) != row
    known = {found.name: found for found in find_study(line["study"]).experiments("laptop")}
    changed = {row.cell: known[row.cell].edited("recipe.steps", 1_999)}
    monkeypatch.setattr(old_rows, "_experiments", lambda study, preset: changed)
    assert brought_up_to_date(row) == row


def test_a_setting_that_came_later_had_its_default(lines):
    line = json.loads(json.dumps(next(line for line in lines if "score" in line["configuration"])))
    row = Row.model_validate_json(json.dumps(line))
    del line["configuration"]["watch"]["checkpoint_every"]
    earlier = Row.model_validate_json(json.dumps(line))
    assert earlier.key != row.key
    assert brought_up_to_date(earlier).key == brought_up_to_date(row).key
    foreign = earlier.model_copy(update={"study": "a user's own"})
    assert brought_up_to_date(foreign) == foreign
    # Not so in a part of another kind, which may never have had it.
    line["configuration"]["score"] = {"kind": "Another"}
    other = Row.model_validate_json(json.dumps(line))
    assert brought_up_to_date(other).configuration["score"] == {"kind": "Another"}
