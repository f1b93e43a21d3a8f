"""Studies of images: published values as printed, the option of other data, and one VAE for all workers."""

import pytest

from aninfonce.studies import find_study, plan
from aninfonce.studies.images.fig3 import SPREAD_CONCENTRATION


@pytest.fixture(autouse=True)
def fetched(mnist_folder, monkeypatch):
    """Images where the studies look for them."""
    monkeypatch.setenv("ANINFONCE_DATA", str(mnist_folder))


def printed(study, metric, start=""):
    cells = [cell for cell in find_study(study).cells("laptop") if cell.name.startswith(start)]
    return [cell.published[metric].value for cell in cells if metric in cell.published]


def test_published_values_of_figure_3():
    assert printed("fig3", "content") == [0.98, 0.99, 0.99, 0.98, 0.94, 0.94]
    assert printed("fig3", "style") == [0.99, 0.99, 0.99, 0.99, 0.03, 0.01]
    assert printed("fig3", "kNN accuracy") == [0.939, 0.938, 0.938, 0.939, 0.666, 0.668]
    assert printed("fig3", "R²") == [0.997, 0.996, 0.774, 0.763]
    # (5.88 − 5)/5 is the largest of the errors; the mean of all ten is far below it.
    for value, error in zip((50, 200), printed("fig3", "error of Λ̂"), strict=True):
        truth = [5 + i * (value - 5) / 9 for i in range(10)]
        relative = [abs(b - a) / a for a, b in zip(truth, SPREAD_CONCENTRATION[value], strict=True)]
        assert error == pytest.approx(sum(relative) / 10, abs=1e-4)


def test_other_data_are_not_compared_with_the_published_values():
    changes = {"dataset": "fashion-mnist"}
    tasks = plan([find_study("fig3")], "laptop", changes=changes)
    assert all(task.cell.configuration["dataset"] == "fashion-mnist" for task in tasks)
    assert not any(task.cell.published for task in tasks)
    assert all(task.cell.published for task in plan([find_study("fig3")], "laptop", changes={"steps": 7}))
