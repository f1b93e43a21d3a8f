"""Help, lists and mistyped names are answered without loading what computes."""

import json
import os
import re
import subprocess
import sys
from typing import get_args, get_type_hints

import pytest
import typer

from aninfonce.cli.app import app
from aninfonce_papers.cli.data import render
from aninfonce_papers.worlds.scenes import KINDS

HEAVY = ("torch", "numpy", "scipy", "sklearn", "matplotlib", "lightning_fabric", "joblib", "PIL")
# What the answer says, and the exit code.
ANSWERS = {
    "--version": ("aninfonce ", 0),
    "list": ("fig2", 0),
    "list --preset paper": ("table4", 0),
    "list fgi2": ("did you mean 'fig2'", 2),
    "run fgi2": ("did you mean 'fig2'", 2),
    "run fig2 fgi3 --dry-run": ("did you mean 'fig3'", 2),
    "data list": ("cifar10", 0),
    "data get mnits": ("did you mean 'mnist'", 2),
    "data get mnist cifar01": ("did you mean 'cifar10'", 2),
    "data render threedidnet --out x": ("threedident", 2),
    "audit --encoder mine:embed --data mnits --out x": ("did you mean 'mnist'", 2),
    "train unknown.yaml": ("`data.process` must be a name from .* did you mean 'fig2/25'", 2),
    "train bad.yaml": ("`recipe.stpes` is not a known setting", 2),
    "train missing.yaml": ("cannot read missing.yaml", 2),
    "lits": ("list", 2),
}
SCRIPT = """
import json, sys
from typer.testing import CliRunner
from aninfonce.cli.app import app

heavy, commands = json.loads(sys.argv[1])
told = {}
for command in commands:
    result = CliRunner().invoke(app, command.split())
    told[command] = result.exit_code, result.output, [name for name in heavy if name in sys.modules]
print(json.dumps(told))
"""


def commands(command, path=()):
    """List a command and all below it by the words that call them."""
    below = getattr(command, "commands", {})
    return [path, *(found for name, child in below.items() for found in commands(child, (*path, name)))]


PATHS = commands(typer.main.get_command(app))


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """All answers of one fresh process, where what is loaded stays: the first test that fails is to blame."""
    folder = tmp_path_factory.mktemp("start")
    (folder / "unknown.yaml").write_text("data: {process: fig2/26}")
    (folder / "bad.yaml").write_text("recipe: {stpes: 3}")
    asked = [*ANSWERS, *(" ".join((*path, "--help")) for path in PATHS)]
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps([HEAVY, asked])],
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", "ANINFONCE_DATA": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(result.stdout)


@pytest.mark.parametrize("command", ANSWERS)
def test_names_are_known_without_what_computes(answers, command):
    code, output, loaded = answers[command]
    words, expected = ANSWERS[command]
    assert (code, loaded) == (expected, []), output
    assert re.search(words, " ".join(output.split())), output


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_has_examples_and_loads_nothing(answers, path):
    code, output, loaded = answers[" ".join((*path, "--help"))]
    assert (code, loaded) == (0, []), output
    example = output.partition("For example:")[2]
    assert " ".join(("aninfonce", *path)) in example, output


def test_long_lists_are_not_printed(answers):
    for command in ("run fgi2", "train unknown.yaml"):
        assert len(answers[command][1]) < 200


def test_kinds_of_scenes_are_those_of_the_renderer():
    assert get_args(get_type_hints(render)["kind"]) == KINDS
