"""Means over seeds, and what a difference is called."""

import pytest

from aninfonce_papers.engine import Published, find_study
from aninfonce_papers.report import compare, judge, sections
from aninfonce_papers.report.markdown import results_page


@pytest.mark.parametrize(
    ("ours", "published", "verdict"),
    [
        ((0.95, 0.01, 4), Published(0.90, 0.01), "better"),
        ((0.92, 0.01, 4), Published(0.90, 0.01), "within noise"),
        ((0.85, 0.01, 4), Published(0.90, 0.01), "worse"),
        ((0.85, 0.0, 1), Published(0.90, 0.01, goal="lower"), "better"),
        ((0.95, 0.0, 1), Published(0.90, 0.02), "within noise"),  # one seed: the published spread, twice
        ((0.95, 0.0, 1), Published(0.90, precision=0.05), "within noise"),
        ((51.0, 0.0, 1), Published(50.0, precision=2.0, goal="equal"), "as published"),
        ((57.0, 0.0, 1), Published(50.0, precision=2.0, goal="equal"), "differs"),
        ((24.9, 0.0, 1), Published(22.75, precision=0.15, goal="target", target=25.0), "better"),
        ((29.0, 0.0, 1), Published(22.75, precision=0.15, goal="target", target=25.0), "worse"),
    ],
)
def test_verdicts(ours, published, verdict):
    assert judge(*ours, published) == verdict


def test_a_target_goes_with_its_goal():
    with pytest.raises(ValueError, match="target"):
        Published(1.0, goal="target")
    with pytest.raises(ValueError, match="goal"):
        Published(1.0, goal="bigger")


def test_sections(results):
    fig5, fig10, table1 = sections(results.rows())
    assert [part.study.name for part in (fig5, fig10, table1)] == ["fig5", "fig10", "table1"]
    compared = [line for line in table1.comparisons if line.published is not None]
    assert [line.verdict for line in compared] == ["better", "within noise", "worse"]
    assert compared[0].mean == pytest.approx(99.72)
    assert compared[0].spread == pytest.approx(0.01)
    assert compared[0].difference == pytest.approx(0.3)
    assert table1.counts == {"better": 1, "within noise": 1, "worse": 1}
    assert len(table1.failures) == 1
    assert table1.command == "aninfonce run table1 --preset laptop --seeds 3"
    assert table1.minutes == pytest.approx(4.5)
    assert fig10.counts == {"as published": 1}  # the optimum; its losses are shown without a verdict
    assert sum(line.difference is not None for line in fig10.comparisons) == 9
    assert fig5.counts == {}


def test_a_study_that_was_run_at_two_sizes_has_two_sections_and_its_remarks_once(results):
    rows = [row for row in results.rows() if row.study == "table1"]
    larger = [row.model_copy(update={"preset": "paper", "seed": 10 + row.seed}) for row in rows]
    first, second = sections([*larger, *rows])
    assert first.title.startswith("table1: ")
    assert [part.title.rpartition(", ")[2] for part in (first, second)] == ["preset laptop", "preset paper"]
    assert first.remarks == ()
    assert second.remarks == find_study("table1").remarks
    (alone,) = sections(rows)
    assert "preset" not in alone.title
    assert alone.remarks == find_study("table1").remarks
    written = results_page([], [first, second])
    assert [line for line in written.splitlines() if line.startswith("<a id")] == [
        '<a id="table1"></a>',
        '<a id="table1-paper"></a>',
    ]


def test_smoke_runs_are_not_judged(results):
    known = find_study("table1").experiments("smoke")[0].known_values("smoke")
    assert {value.goal for value in known.values()} == {"shown"}
    rows = [row.model_copy(update={"published": known}) for row in results.rows() if row.study == "table1"]
    assert all(not part.counts for part in sections(rows))


def test_runs_of_one_cell_in_two_sizes_stay_apart(results):
    rows = [row for row in results.rows() if row.study == "fig5"]
    score = {**rows[0].configuration["score"], "samples": 7}
    other = rows[0].model_copy(update={"configuration": {**rows[0].configuration, "score": score}})
    names = [line.cell for line in compare([*rows, other])]
    assert names == ["large Λ (score.samples 200000)", "small Λ", "large Λ (score.samples 7)"]
