"""The HTML page and the generated Markdown."""

import re

import pytest
from markupsafe import escape
from typer.testing import CliRunner

from aninfonce.cli.app import app
from aninfonce_papers.claims import LEGEND
from aninfonce_papers.engine import find_study
from aninfonce_papers.report import write_markdown, write_report
from aninfonce_papers.report.markdown import END, START
from tests.browser import check_layouts, open_page


def test_the_page_holds_everything(results):
    path = write_report(results.directory)
    text = path.read_text()
    assert path == results.directory / "report" / "index.html"
    assert "row 1: sphere, uniform, vMF κ=1 → sphere, vMF" in text
    assert "99.72 ± 0.01" in text
    assert "99.42 ± 0.05" in text
    assert "+0.30" in text
    for verdict in ("better", "within noise", "worse", "as published"):
        assert f">{verdict}</span>" in text
    assert "RuntimeError: &lt;b&gt;broke&lt;/b&gt; &amp; fell" in text
    assert escape(find_study("table1").remarks[0]) in text
    assert 'href="../results.jsonl"' in text
    assert "aninfonce run table1 --preset laptop --seeds 3" in text
    assert not re.findall(r'(?:src|href)="https?:', text)
    for verdict, meaning in LEGEND.items():
        assert f"{verdict}</span> {meaning}" in text
    claim = text[text.index("With Λ⁺ = 150 and hard negatives") :]
    assert "1 seed, laptop" in claim[: claim.index("</summary>")]
    assert claim.index('<svg class="spark"') < claim.index("</summary>")
    assert text.index('id="claims"') < text.index("<figure>") < text.index("<table>")
    plots = sorted(p.name for p in (path.parent / "plots").iterdir())
    names = ("fig10-laptop-optimum", "fig5-laptop-conditionals", "table1-laptop-table")
    assert plots == [f"{name}.{kind}" for name in names for kind in ("png", "svg")]
    assert write_report(results.directory).read_text() == text  # the same rows give the same page


@pytest.mark.process
def test_in_a_browser(results, tmp_path):
    """From disk and offline: nothing in the console, all plots drawn, three widths and both schemes."""
    path = write_report(results.directory)
    with open_page(path, tmp_path / "profile", width=390, height=800) as (page, problems):
        # The ledger comes first, then plots; tables are folded away.
        assert page.locator("#claims").is_visible()
        assert page.locator("main > *").first.get_attribute("id") == "claims"
        assert page.locator("table").count() == 3
        assert page.locator("tbody tr").count() == 2 + 9 + 6
        assert not page.locator("table").first.is_visible()
        page.get_by_text("Table of 6 values").click()
        assert page.locator("table .better").first.is_visible()
        drawn = page.eval_on_selector_all(
            "figure svg", "all => all.map(s => s.getBoundingClientRect().width > 100)"
        )
        assert drawn == [True] * 3
        # Each seed of each row tells its numbers.
        titles = page.eval_on_selector_all("figure use > title", "all => all.map(t => t.textContent)")
        first = "row 1: sphere, uniform, vMF κ=1 → sphere, vMF"
        assert f"ours, each seed\nR² [%] 99.72\n{first}" in titles
        assert sum(first in title for title in titles) == 3 + 1
        check_layouts(page)
        page.set_viewport_size({"width": 390, "height": 800})
        # What is not reached is open: two overlaps that are equal, and row 3 of the table.
        unreached = page.locator(".ledger details[open]")
        assert unreached.count() == 2
        assert "row 3" in unreached.last.inner_text()
        assert unreached.last.get_by_text("Judged by").is_visible()
        assert page.locator(".ledger .spark").first.bounding_box()["width"] > 100
        page.locator(".claim", has_text="Figure 5").locator("a").click()
        assert page.url.endswith("#fig5-laptop")
        with page.expect_navigation():
            page.locator("header a").first.click()
        assert page.url.endswith("results.jsonl")
        assert problems == []


def test_markdown_is_generated_and_checked(results, tmp_path):
    page, readme = tmp_path / "docs" / "results.md", tmp_path / "README.md"
    readme.write_text(f"before\n{START}\nold\n{END}\nafter\n")
    arguments = ["report", str(results.directory), "--markdown", "--page", str(page), "--readme", str(readme)]
    runner = CliRunner()
    stale = runner.invoke(app, [*arguments, "--check"])
    assert stale.exit_code == 1
    assert stale.output.count("is out of date") == 2
    assert runner.invoke(app, arguments).exit_code == 0
    assert runner.invoke(app, [*arguments, "--check"]).exit_code == 0
    text = page.read_text()
    assert "| better |" in text
    assert "| 99.72 ± 0.01 | 3 | 99.42 ± 0.05 | +0.30 |" in text
    summary = readme.read_text()
    assert summary.startswith(f"before\n{START}\n")
    assert summary.endswith(f"{END}\nafter\n")
    assert "| Figure 10 A | With Λ⁺ = 150" in summary
    assert "| cl-ica, Table 1, rows 1–4 |" in summary
    assert "- *exceeded*: " in summary
    readme.write_text(summary.replace("not reached", "exceeded", 1))
    assert runner.invoke(app, [*arguments, "--check"]).exit_code == 1


def test_bad_input_is_named(results, tmp_path):
    with pytest.raises(ValueError, match="found none"):
        write_report(tmp_path / "empty")
    (tmp_path / "README.md").write_text("no marks")
    with pytest.raises(ValueError, match="must have the lines"):
        write_markdown(results.directory, tmp_path / "page.md", tmp_path / "README.md")
    told = CliRunner().invoke(app, ["report", str(results.directory), "--check"])
    assert told.exit_code == 2
