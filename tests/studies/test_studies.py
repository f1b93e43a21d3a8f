"""Every study runs at its smallest size, and holds the published values."""

import json

import pytest

from aninfonce.studies import find_study, plan, study_names
from aninfonce.studies.execute import execute

# One cell of each kind where all would take long.
CELLS = {
    "fig2": ["AnInfoNCE Λ₂=25", "InfoNCE Λ₂=25", "optimum"],
    "fig4": ["A: d=10, batch 50"],
    "fig9": ["d=23, batch 50"],
    "fig11": ["InfoNCE", "ensemble"],
    "theorem": ["two blocks"],
    "exactness": ["exact, forward", "approximate, symmetric+β"],
    "table1": ["row 1:*", "row 5:*", "row 12:*", "identity, rows 1*", "supervised, rows 5*"],
    "table2": ["row 1:*", "row 3:*", "supervised*"],
}


@pytest.mark.parametrize("name", study_names())
def test_smoke(name):
    rows = []
    for task in plan([find_study(name)], "smoke", only=CELLS.get(name, ())):
        row = json.loads(json.dumps(execute(task)))
        assert row["error"] is None
        assert set(row["published"]) <= set(row["metrics"])
        rows.append(row)
    figures = find_study(name).plot(rows)
    assert figures
    assert all(figure.axes for figure in figures.values())


def test_a_cell_is_a_function_of_its_seed():
    (task,) = plan([find_study("table1")], "smoke", only=["row 1:*"])
    first, second = execute(task), execute(task)
    assert first["metrics"] == second["metrics"]
    (other,) = plan([find_study("table1")], "smoke", seeds=2, only=["row 1:*"])[1:]
    assert execute(other)["metrics"] != first["metrics"]


def test_hard_negatives_have_their_optimum_at_the_difference():
    """400 anchors: the estimate scatters by about 1.7, so ±8 does not err by chance."""
    (task,) = plan([find_study("fig10")], "smoke", only=["exact"], changes={"anchors": 400})
    assert execute(task)["metrics"]["optimum"] == pytest.approx(50.0, abs=8.0)


def test_published_values():
    """The tables as printed, once more and in another form."""

    def printed(study, metric, start):
        cells = [cell for cell in find_study(study).cells("paper") if cell.name.startswith(start)]
        return [(cell.published[metric].value, cell.published[metric].spread) for cell in cells]

    table1 = "99.42 99.86 99.91 99.86 99.60 99.64 99.70 99.69 99.02 99.02 98.13 98.76"
    spread1 = ".05 .01 .01 .00 .02 .02 .02 .02 .01 .02 .14 .03"
    assert printed("table1", "R² [%]", "row") == _pairs(table1, spread1)
    assert printed("table1", "R² [%]", "identity") == _pairs(
        "66.98 67.93 63.37 62.49 63.57", "2.79 7.40 2.41 1.65 2.30"
    )
    assert printed("table1", "R² [%]", "supervised") == _pairs(
        "99.71 99.78 99.70 99.65 99.61", ".05 .06 .07 .04 .17"
    )
    table2 = "98.62 99.90 99.77 99.76 98.80 98.57 99.85 58.26 59.67 43.80"
    spread2 = ".05 .06 .01 .02 .02 .02 .01 3.00 2.33 2.15"
    assert printed("table2", "MCC [%]", "row") == _pairs(table2, spread2)
    style = [value for value, _ in printed("fig2", "style", "AnInfoNCE Λ₂")]
    content = [value for value, _ in printed("fig2", "content", "InfoNCE Λ₂")]
    assert style == [1, 1, 1, 1, 0.79, 0.79]
    assert content == [1, 0.96, 0.94, 0.92, 0.89, 0.88]
    fails = [cell.published["MCC [%]"].goal for cell in find_study("table2").cells("laptop")][:10]
    assert fails == ["higher"] * 7 + ["equal"] * 3


def _pairs(values, spreads):
    return list(zip(map(float, values.split()), map(float, spreads.split()), strict=True))
