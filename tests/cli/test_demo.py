"""The demo: its pages as texts and in a browser, and what both losses and the recording come to."""

import io
import json
import re
import subprocess
import sys
from dataclasses import asdict, replace

import numpy as np
import pytest
from rich.console import Console

from aninfonce.cli.demo_page import render_page
from aninfonce.cli.demo_recording import PHI, record, recording_table, render_recording_page, run_recording
from aninfonce.cli.demo_runs import DemoRun, comparison_table, demo_config
from tests.browser import check_layouts, open_page

HISTORY = [
    {"step": s, "r2_content": 0.9, "r2_style": 0.5, "held_out_loss": 4.0, "concentration": [4.0, 20.0]}
    for s in (10, 20, 30, 40)
]
HIDDEN = np.random.default_rng(0).normal(size=(50, 4)).tolist()


def finished(name, r2, concentration, loss, **rest):
    given = {"truth": [5.0, 25.0], "optimum": 3.7, "seconds": 30.0, "history": HISTORY, "hidden": HIDDEN}
    return DemoRun(name, r2, concentration, loss=loss, found=HIDDEN, **given, **rest)


RUNS = [
    finished("InfoNCE", {"content": 0.95, "style": 0.01}, [1.0], 6.2, folded=None, switch=None),
    finished("AnInfoNCE", {"content": 0.999, "style": 0.98}, [4.9, 24.7], 3.71, folded=False, switch=20),
]


def printed(table):
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(table)
    return console.export_text()


def test_both_losses_see_the_same_seed_and_steps():
    first, second = (demo_config(name, 3, quick=False) for name in ("InfoNCE", "AnInfoNCE"))
    assert first.seed == second.seed == 3
    assert first.recipe.steps == second.recipe.steps
    assert not first.unfolds
    assert second.unfolds


def test_the_table_shows_truth_beside_what_was_learned():
    text = printed(comparison_table(RUNS))
    assert "4.9–4.9, 24.7–24.7" in text
    assert "Λ̂ (5 and 25)" in text
    assert "0.9500" in text
    assert "3.710" in text


def nothing_from_elsewhere(page):
    assert not re.search(r'(src|href)="(?!#|data:|results\.json)', re.sub(r"xlink:href", "", page))
    known = r"http://www.w3.org|http://purl.org|http://creativecommons.org|https://matplotlib.org"
    return "http" not in re.sub(known, "", page)


def test_the_page_tells_the_story_in_pictures_first():
    page = render_page(RUNS, command="aninfonce demo --seed <0>")
    assert nothing_from_elsewhere(page)
    assert page.count("<svg") == 2 * 3 + 3
    assert "InfoNCE found 95\N{NO-BREAK SPACE}% of the content and 1\N{NO-BREAK SPACE}% of the style." in page
    assert (
        "AnInfoNCE found 99.9\N{NO-BREAK SPACE}% of the content and 98\N{NO-BREAK SPACE}% of the style."
        in page
    )
    assert page.rindex("<figure>") < page.index("<details>") < page.index("<table>")
    assert re.findall(r"<figcaption>(\w+)</figcaption>", page) == ["truth", "InfoNCE", "AnInfoNCE"] * 2
    assert "--seed &lt;0&gt;" in page
    assert "looks folded" not in page
    assert "looks folded" in render_page([RUNS[0], replace(RUNS[1], folded=True)], command="")


@pytest.mark.process
def test_in_a_browser(tmp_path):
    path = tmp_path / "index.html"
    path.write_text(render_page(RUNS, command="aninfonce demo"))
    with open_page(path, tmp_path / "profile", width=390, height=800) as (page, problems):
        check_layouts(page)
        assert not page.locator("table").is_visible()
        page.locator("summary").click()
        check_layouts(page)
        # Three in a row on a phone, too.
        page.set_viewport_size({"width": 390, "height": 800})
        tops = page.eval_on_selector_all(".trio svg", "all => all.map(s => s.getBoundingClientRect().top)")
        assert len(set(tops)) == 2
        assert problems == []


@pytest.fixture(scope="module")
def quick_demo(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo")
    command = [
        sys.executable,
        "-c",
        "from aninfonce.cli import main; main()",
        "demo",
        "--quick",
        "--out",
        out,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out, done.stdout


@pytest.mark.process
def test_quick_demo_tells_the_two_losses_apart(quick_demo):
    out, text = quick_demo
    infonce, aninfonce = (DemoRun(**run) for run in json.loads((out / "results.json").read_text()))
    assert "AnInfoNCE" in text
    assert (out / "index.html").exists()
    assert infonce.r2["style"] < 0.4
    assert aninfonce.r2["style"] > 0.8
    assert aninfonce.loss < infonce.loss
    assert asdict(aninfonce)["history"]
    # The pictures show the same observations, and what R² says of them.
    assert infonce.hidden == aninfonce.hidden
    for run in (infonce, aninfonce):
        error = np.square(np.subtract(run.found, run.hidden)).mean(axis=0) / np.var(run.hidden, axis=0)
        shown = 1 - error.reshape(2, 2).mean(axis=1)
        np.testing.assert_allclose(shown, list(run.r2.values()), atol=0.15)


def test_sources_of_the_recording_are_what_they_are_said_to_be():
    z, x = record(40_000, seed=1)
    np.testing.assert_allclose(z.var(axis=0), 1.0, atol=0.25)
    np.testing.assert_allclose([np.corrcoef(s[1:], s[:-1])[0, 1] for s in z.T], PHI, atol=0.02)
    assert x.shape == z.shape


def test_a_recording_on_a_page(tmp_path):
    found = run_recording(0, quick=True)
    assert found.ours.correlation > found.pca.correlation + 0.1
    assert "0." in printed(recording_table(found))
    # The traces are those of the matched columns, with the sources' signs.
    for match in (found.pca, found.ours):
        both = np.corrcoef(match.traces, found.truth, rowvar=False)
        assert np.diag(both[:5, 5:]).mean() > 0.3
    page = render_recording_page(found, command="aninfonce demo --recording")
    assert nothing_from_elsewhere(page)
    assert page.count("<svg") == 5 * 3
    assert f"{found.ours.correlation:.3f}" in page
    assert "with its defaults" not in page
    assert "with its defaults" in render_recording_page(replace(found, settings={}), command="")
    assert page.rindex("<figure>") < page.index("<details>") < page.index("<table>")
    path = tmp_path / "index.html"
    path.write_text(page)
    with open_page(path, tmp_path / "profile", width=390, height=800) as (browser, problems):
        check_layouts(browser)
        browser.locator("summary").click()
        check_layouts(browser)
        assert problems == []
