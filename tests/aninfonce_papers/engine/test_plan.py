"""Cells chosen, changed and timed before anything runs."""

import json

import pytest

from aninfonce_papers.engine import estimate_seconds, find_study, parse_changes, plan, study_names
from aninfonce_papers.engine.row import PRESETS
from aninfonce_papers.rusak2025.simclr.experiment import BESIDE
from tests.aninfonce_papers.engine import toys


def test_seeds_cells_and_patterns():
    tasks = plan([toys.study()], "smoke", seeds=2, only=["*good", "nan"])
    assert [(task.experiment.name, task.seed) for task in tasks] == [
        (name, seed) for seed in (0, 1) for name in ("good", "nan", "also good")
    ]


def test_changes_are_checked():
    (task,) = plan([toys.study()], "smoke", only=["good"], changes={"score.seconds": 3})
    assert (task.experiment.score.seconds, task.experiment.score.kind) == (3.0, "good")
    for changes, message in (
        ({"score.secnods": 3}, r"got 'score.secnods'; did you mean 'score.seconds'"),
        ({"seconds": 3}, "must name a setting of these cells"),
        ({"name": "another"}, "must name a setting of these cells"),
        ({"score.seconds": "long"}, "`set` score.seconds: .* valid number"),
    ):
        with pytest.raises(ValueError, match=message):
            plan([toys.study()], "smoke", changes=changes)


def test_a_change_reaches_the_experiments_that_have_it():
    tasks = plan([find_study("fig2")], "smoke", changes={"recipe.steps": 7, "score.batches": 3})
    steps = [task.experiment.recipe.steps for task in tasks if task.experiment.recipe is not None]
    assert steps == [7] * 13
    assert tasks[-1].experiment.score.batches == 3


def test_bad_choices_are_named():
    with pytest.raises(ValueError, match=r"got 'fig22'; did you mean 'fig2'"):
        find_study("fig22")
    with pytest.raises(ValueError, match=r"`only` must match a cell, got 'goood'; there are 'good'"):
        plan([toys.study()], "smoke", only=["goood"])
    with pytest.raises(ValueError, match="preset"):
        plan([toys.study()], "huge")
    with pytest.raises(ValueError, match="seeds"):
        plan([toys.study()], "smoke", seeds=0)
    with pytest.raises(ValueError, match="path=value"):
        parse_changes(["steps"])


def test_time_comes_from_earlier_rows_of_the_same_configuration():
    (task,) = plan([toys.study()], "smoke", only=["good"])
    same = {"study": "toy", "cell": "good", "configuration": task.experiment.configuration}
    rows = [toys.row(5, **same, seconds=4.0), toys.row(6, **same, seconds=6.0)]
    other = [
        toys.row(5, study="toy", cell="good", seconds=100.0),
        toys.row(5, "broke", **same, seconds=0.1),
    ]
    assert estimate_seconds(task, [*rows, *other]) == 5.0
    assert estimate_seconds(task, other) == 2.0


@pytest.mark.parametrize("name", study_names(own_data=True))
@pytest.mark.parametrize("preset", PRESETS)
def test_grids_are_well_formed(name, preset):
    study = find_study(name)
    if preset not in study.presets:
        with pytest.raises(ValueError, match=f"`preset` must be one of .* for {name}, got '{preset}'"):
            plan([study], preset)
        return
    cells = study.experiments(preset)
    assert study.name == name
    assert len({cell.name for cell in cells}) == len(cells)
    assert len({cell.key for cell in cells}) == len(cells)
    for cell in cells:
        assert cell.seconds > 0
        assert json.loads(cell.key) == cell.configuration
    if "paper" not in study.presets:
        return
    papers = study.experiments("paper")
    assert list(map(_printed, cells[: len(papers)])) == list(map(_printed, papers))
    # What a small preset cannot see may be tried in another way, beside the paper's cells; so may the paper's
    # encoder, where the cells have another, and an idea of ours.
    extra = ("closer look: ", "hard negatives: ", "paper's encoder, ", BESIDE)
    assert all(cell.name.startswith(extra) for cell in cells[len(papers) :])


def _printed(cell):
    return {metric: known.value for metric, known in cell.published.items()}
