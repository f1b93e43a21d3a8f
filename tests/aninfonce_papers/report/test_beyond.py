"""The tables of the theory page are what the committed results say."""

from pathlib import Path

import pytest

from aninfonce_papers.report.beyond import (
    PAGES,
    tunnel_table,
    violations_table,
    walking_table,
    write_tables,
)
from tests.aninfonce_papers.engine import toys

ROOT = Path(__file__).parents[3]


THEORY = PAGES["docs/beyond-the-sphere.md"]


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_up_to_date(page):
    stale = write_tables(ROOT / "results", ROOT / page, PAGES[page], check=True)
    assert not stale, "run `python -m aninfonce_papers.report.beyond`"


def test_means_and_spread():
    rows = [toys.row(cell="flat", metrics={"R²": value, "error of Λ̂": 0.5}) for value in (0.25, 0.75)]
    line = PAGES["docs/beyond-the-sphere.md"]["timescales"](rows).splitlines()[-1]
    assert line == "| flat | 2 | 0.500 ± 0.354 | – | 0.500 ± 0.000 | – |"


def test_findings_are_counted():
    metrics = {"R²": 1.0, "mean correlation": 1.0, "rank correlation": 1.0, "columns by themselves": 4}
    rows = [
        toys.row(cell="nothing broken", metrics={**metrics, "concerns of the audit": found})
        for found in ([], ["conditional", "uniformity"])
    ]
    assert violations_table(rows).splitlines()[-1].endswith("| 4.0 of 4 | 1 of 2 | 0 of 2 |")


def test_pairs_and_recordings_stand_in_one_cell():
    metrics = {"R², lights": 0.5, "R², angles": 0.0, "R², cos²": 1.0, "mean correlation": 0.25}
    steps = [toys.row(cell="all sensors, steps: PCA", metrics=metrics)]
    walk = [
        toys.row(cell="all sensors, walk: PCA", metrics={**metrics, "R², lights": value}) for value in (0, 1)
    ]
    line = tunnel_table([*steps, *walk]).splitlines()[-1]
    assert line == "| all sensors: PCA | 1 / 2 | 0.500 | 0.000 | 1.000 | 0.250 |"


def test_strides_that_differ_are_told_as_a_range():
    rows = [
        toys.row(cell="flat", metrics={"frequency [Hz]": value, "held-out bits": 2}) for value in (0.75, 1.75)
    ]
    assert walking_table(rows).splitlines()[-1] == "| flat | 2 | 2.000 | 0.75 to 1.75 | – | – | – |"
    assert walking_table(rows[:1]).splitlines()[-1] == "| flat | 1 | 2.000 | 0.75 | – | – | – |"


def test_a_page_without_marks_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("no marks")
    with pytest.raises(ValueError, match="`page` must have the lines <!-- timescales: start -->"):
        write_tables(ROOT / "results", page, THEORY)
    assert page.read_text() == "no marks"


def test_only_what_is_between_the_marks_is_written(tmp_path):
    page = tmp_path / "page.md"
    names = ("timescales", "broken-assumptions")
    page.write_text("".join(f"before\n<!-- {name}: start -->\nold\n<!-- {name}: end -->\n" for name in names))
    assert write_tables(ROOT / "results", page, THEORY, check=True)
    assert "old" in page.read_text()
    assert write_tables(ROOT / "results", page, THEORY)
    assert "old" not in page.read_text()
    assert page.read_text().count("before") == 2
    assert not write_tables(ROOT / "results", page, THEORY)
