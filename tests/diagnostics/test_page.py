"""The page of an audit."""

import json
import re

import numpy as np
import pytest

from aninfonce.diagnostics import audit, write_audit
from tests.browser import check_layouts, open_page
from tests.diagnostics.cases import clean


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    x, x_pos = clean([5.0, 5.0, 25.0, 25.0, 25.0], n=600)
    report = audit(
        lambda rows: rows[:, 1:],
        (x, x_pos),
        {"moved <b>": lambda rows: rows + np.eye(5)[0]},
        latents=x,
        labels=x[:, 0] > 0,
    )
    return write_audit(report, tmp_path_factory.mktemp("audit"), name="<script>"), report


def test_the_page_holds_everything(page):
    path, report = page
    text = path.read_text()
    assert "<script>" not in text
    assert "moved &lt;b&gt;" in text
    for finding in report.findings:
        assert f'<section id="{finding.name}">' in text
        assert (path.parent / "plots" / f"{finding.name}.svg").exists()
    # In the overview, at each finding, and in the table; first come those that ask for attention.
    assert text.count("look here</span>") == 1 + 2 * len(report.concerns)
    assert f"{len(report.concerns)} look here</span>" in text
    first = re.findall(r'<section id="(\w+)">', text)[: len(report.concerns)]
    assert first == [finding.name for finding in report.concerns]
    assert not re.findall(r'(?:src|href)="https?:', text)
    numbers = json.loads((path.parent / "audit.json").read_text())
    assert [row["name"] for row in numbers["findings"]] == [finding.name for finding in report.findings]


def test_a_page_of_a_collapse(tmp_path):
    report = audit(lambda rows: np.ones((len(rows), 2)), clean(n=200))
    page = write_audit(report, tmp_path).read_text()
    assert page.count("not judged</span>") == 1 + 2 * (len(report.findings) - 1)
    assert page.count("<figure>") == 1
    assert "None" not in page


def test_a_page_of_a_ratio_without_an_upper_end(tmp_path):
    x, x_pos = clean(n=300)
    page = write_audit(audit(lambda rows: rows, (x, np.roll(x_pos, 1, axis=0))), tmp_path)
    assert "at least 1" in page.read_text()
    assert "cannot tell</span>" in page.read_text()
    numbers = json.loads((tmp_path / "audit.json").read_text(), parse_constant=pytest.fail)
    assert numbers["findings"][1]["interval"][1] is None


@pytest.mark.process
def test_in_a_browser(page, tmp_path):
    """From disk and offline: nothing in the console, all plots drawn, three widths and both schemes."""
    path, report = page
    with open_page(path, tmp_path / "profile", width=390, height=800) as (browser, problems):
        assert browser.locator("section").count() == len(report.findings) == 11
        assert browser.locator("figure svg").count() == 11
        assert browser.locator(".concern").first.is_visible()
        check_layouts(browser)
        assert not browser.locator("table").is_visible()
        browser.locator("summary").click()
        check_layouts(browser)
        browser.locator("tbody a").nth(3).click()
        assert browser.url.endswith("#collapse")
        with browser.expect_navigation():
            browser.locator("header p a").first.click()
        assert browser.url.endswith("audit.json")
        assert problems == []
