"""The grids of our own studies: nothing published, every violation in three strengths."""

import pytest

from aninfonce_papers.beyond.broken_assumptions import families
from aninfonce_papers.engine import find_study, plan
from aninfonce_papers.engine.execute import execute
from tests.aninfonce_papers.engine import toys


@pytest.mark.parametrize(
    "name",
    ["timescales", "broken-assumptions", "oscillators", "heteroscedastic", "light-tunnel", "real-dynamics"],
)
def test_experiments_are_ours(name):
    study = find_study(name)
    for preset in study.presets:
        cells = study.experiments(preset)
        assert len({cell.name for cell in cells}) == len({cell.key for cell in cells}) == len(cells)
        assert not any(cell.published for cell in cells)


def test_each_violation_has_three_strengths():
    grid = families("laptop")
    assert [found.name for found in grid.pop("none")] == ["nothing broken"]
    assert len(grid) == 8
    assert all(len({found.key for found in family}) == 3 for family in grid.values())


def test_a_cell_is_a_function_of_its_seed():
    (task,) = plan([find_study("broken-assumptions")], "smoke", only=["tails: Student, ν=3"])
    first, second = execute(task), execute(task)
    assert first.error is None
    assert first.metrics == second.metrics


def test_what_is_known_of_each_method():
    """Λ̂ and time constants are compared where they are those of columns of unit variance."""
    rows = {task.experiment.name: execute(task) for task in plan([find_study("timescales")], "smoke")}
    assert all(row.error is None for row in rows.values())
    with_errors = {name for name, row in rows.items() if "error of Λ̂" in row.metrics}
    assert with_errors == {"flat", "flat, no β", "flat, lag 4", "AMUSE (linear)"}
    assert all(set(row.metrics) >= {"R²", "mean correlation"} for row in rows.values())


def test_strengths_are_drawn_in_order_whatever_was_finished_first():
    study = find_study("broken-assumptions")
    rows = [
        toys.row(cell=cell.name, metrics={"R²": 0.1 * place, "mean correlation": 1})
        for place, cell in enumerate(study.experiments("laptop")[1:4])
    ]
    axes = study.plot(rows[::-1])["broken"].axes[0]
    assert [line.get_xdata()[0] for line in axes.lines] == [row.metrics["R²"] for row in rows]
