import io
import json
import re
import subprocess
import sys
from dataclasses import asdict, replace

import pytest
from rich.console import Console

from aninfonce.cli.demo_page import render_page
from aninfonce.cli.demo_runs import DemoRun, comparison_table, demo_config

HISTORY = [
    {"step": s, "r2_content": 0.9, "r2_style": 0.5, "held_out_loss": 4.0, "concentration": [4.0, 20.0]}
    for s in (10, 20, 30, 40)
]
RUNS = [
    DemoRun(
        "InfoNCE", {"content": 0.95, "style": 0.01}, [1.0], [5.0, 25.0], 6.2, 3.7, 30.0, None, None, HISTORY
    ),
    DemoRun(
        "AnInfoNCE",
        {"content": 0.99, "style": 0.98},
        [4.9, 24.7],
        [5.0, 25.0],
        3.71,
        3.7,
        40.0,
        False,
        20,
        HISTORY,
    ),
]


def test_both_losses_see_the_same_seed_and_steps():
    first, second = (demo_config(name, 3, quick=False) for name in ("InfoNCE", "AnInfoNCE"))
    assert first.seed == second.seed == 3
    assert first.recipe.steps == second.recipe.steps
    assert not first.unfolds
    assert second.unfolds


def test_the_table_shows_truth_beside_what_was_learned():
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(comparison_table(RUNS))
    text = console.export_text()
    assert "4.9–4.9, 24.7–24.7" in text
    assert "Λ̂ (5 and 25)" in text
    assert "0.9500" in text
    assert "3.710" in text


def test_the_page_needs_nothing_else():
    page = render_page(RUNS, seed=0, quick=True)
    assert page.count("<svg") == 1
    assert not re.search(r'(src|href)="(?!#)', page)
    assert "http" not in re.sub(
        r"http://www.w3.org|http://purl.org|http://creativecommons.org|https://matplotlib.org", "", page
    )
    assert "looks folded" not in page
    assert "looks folded" in render_page([RUNS[0], replace(RUNS[1], folded=True)], seed=0, quick=False)


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
