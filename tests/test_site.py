"""The documentation builds as a site, warnings being errors, and works from disk: search, phones, schemes."""

import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import fmean

import pytest
import yaml

from aninfonce_papers.engine import ResultStore
from tests.browser import SCHEMES, open_page

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    result = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return out


def test_site_builds_without_a_warning(site):
    reference = (site / "reference" / "losses.html").read_text(encoding="utf-8")
    assert "AnInfoNCE" in reference
    # Names of a package that imports them when they are used.
    assert 'id="aninfonce.training.TrainingConfig"' in (site / "reference" / "training.html").read_text(
        encoding="utf-8"
    )
    # Doctests are shown as code, not as nested quotations.
    assert "<blockquote>\n<blockquote>" not in reference


def test_the_way_through_the_site_has_its_five_parts(site):
    nav = yaml.load((ROOT / "mkdocs.yml").read_text(), yaml.BaseLoader)["nav"]
    assert [next(iter(part)) for part in nav] == [
        "Home",
        "Tutorial",
        "How to",
        "Explanation",
        "Results",
        "Reference",
    ]
    for page in ("index", "tutorial", "notebooks", "howto/choosing", "glossary", "reference/citations"):
        assert (site / f"{page}.html").exists(), page
    # The notebooks are on it, so that their links work from disk.
    assert len(list((site / "notebooks").glob("*.ipynb"))) == 5


def test_search_finds_pages_from_disk(site, tmp_path):
    with open_page(site / "index.html", tmp_path, width=1400) as (page, problems):
        for start, word, found in (
            ("index.html", "oscillators", "howto/dynamics.html"),
            ("howto/choosing.html", "kurtosis", "audit.html"),
        ):
            page.goto((site / start).as_uri())
            page.focus("input.md-search__input")
            page.keyboard.type(word)
            page.wait_for_selector(".md-search-result__item a")
            hits = page.eval_on_selector_all(".md-search-result__item a", "all => all.map(a => a.href)")
            assert any(found in hit for hit in hits), hits
        assert not problems


def test_pages_fit_a_phone_in_both_schemes(site, tmp_path):
    with open_page(site / "index.html", tmp_path, width=390, height=800) as (page, problems):
        for name in ("index", "howto/choosing", "benchmarks", "results", "reference/losses"):
            page.goto((site / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        for scheme, name in zip(SCHEMES, ("default", "slate"), strict=True):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function(f"document.body.dataset.mdColorScheme === '{name}'")
        assert not problems


def test_the_table_of_batch_sizes_is_that_of_the_results():
    page = (ROOT / "docs" / "howto" / "choosing.md").read_text()
    rows = [row for row in ResultStore(ROOT / "results").rows() if row.study == "fig4" and row.error is None]
    lines = re.findall(r"^\| (\d+) \|(.*)\|$", page, re.MULTILINE)
    assert [int(factors) for factors, _ in lines] == [10, 20, 40]
    for factors, cells in lines:
        for batch, cell in zip((50, 250, 500, 1000), cells.split("|"), strict=True):
            of_cell = [row for row in rows if row.cell == f"A: d={factors}, batch {batch}"]
            ours = fmean(row.number("R²") for row in of_cell if row.preset == "laptop")
            digits = len(cell.strip()) - 1
            assert round(ours, digits) == float(cell), (factors, batch, ours)
