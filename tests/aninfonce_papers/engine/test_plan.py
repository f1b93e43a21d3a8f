"""Cells chosen, changed and timed before anything runs."""

import pytest

from aninfonce_papers.engine import estimate_seconds, find_study, parse_changes, plan, study_names
from tests.aninfonce_papers.engine import toys


def test_seeds_cells_and_patterns():
    tasks = plan([toys.study()], "smoke", seeds=2, only=["*good", "nan"])
    assert [(task.cell.name, task.seed) for task in tasks] == [
        (name, seed) for seed in (0, 1) for name in ("good", "nan", "also good")
    ]


def test_changes_reach_the_settings_alone():
    (task,) = plan([toys.study()], "smoke", only=["good"], changes={"seconds": 3})
    assert task.cell.settings == {"seconds": 3.0, "trace": None}
    assert task.cell.configuration["kind"] == "good"
    for changes, message in (
        ({"kind": "nan"}, "must name a setting of these cells"),
        ({"seconds": "long"}, "must be of type float"),
        ({"seconds": True}, "must be of type float"),
    ):
        with pytest.raises(ValueError, match=message):
            plan([toys.study()], "smoke", changes=changes)


def test_bad_choices_are_named():
    with pytest.raises(ValueError, match=r"got 'fig22'; did you mean 'fig2'"):
        find_study("fig22")
    with pytest.raises(ValueError, match=r"`only` must match a cell, got 'goood'; there are 'good'"):
        plan([toys.study()], "smoke", only=["goood"])
    with pytest.raises(ValueError, match="preset"):
        plan([toys.study()], "huge")
    with pytest.raises(ValueError, match="seeds"):
        plan([toys.study()], "smoke", seeds=0)
    with pytest.raises(ValueError, match="key=value"):
        parse_changes(["steps"])


def test_time_comes_from_earlier_rows_of_the_same_configuration():
    (task,) = plan([toys.study()], "smoke", only=["good"])
    row = {
        "study": "toy",
        "cell": "good",
        "seed": 5,
        "configuration": task.cell.configuration,
        "error": None,
        "seconds": 4.0,
    }
    other = {**row, "configuration": {"kind": "good", "seconds": 1.0, "trace": None}, "seconds": 100.0}
    failed = {**row, "error": "broke", "seconds": 0.1}
    assert estimate_seconds(task, [row, {**row, "seconds": 6.0}, other, failed]) == 5.0
    assert estimate_seconds(task, [other, failed]) == 2.0


@pytest.mark.parametrize("name", study_names(own_data=True))
@pytest.mark.parametrize("preset", ["smoke", "laptop", "paper"])
def test_grids_are_well_formed(name, preset):
    study = find_study(name)
    cells = study.cells(preset)
    assert study.name == name
    assert len({cell.name for cell in cells}) == len(cells)
    assert len({cell.key for cell in cells}) == len(cells)
    for cell in cells:
        assert cell.estimate > 0
        assert not set(cell.parameters) & set(cell.settings)
    papers = study.cells("paper")
    assert list(map(_printed, cells[: len(papers)])) == list(map(_printed, papers))
    # What a small preset cannot see may be tried in another way, beside the paper's cells.
    assert all(cell.name.startswith("closer look: ") for cell in cells[len(papers) :])


def _printed(cell):
    return {metric: known.value for metric, known in cell.published.items()}
