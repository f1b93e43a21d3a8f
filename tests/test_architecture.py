"""The written rules of the house, enforced."""

import subprocess
import sys
from pathlib import Path

import pytest

import aninfonce

ROOT = Path(__file__).parents[1]


def test_data_flows_one_way():
    linter = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_public_name_exists_and_is_documented():
    for name in aninfonce.__all__:
        assert getattr(aninfonce, name).__doc__, name


def test_importing_the_package_is_light():
    # The training framework, plotting and pictures are only loaded when used.
    heavy = ("lightning_fabric", "matplotlib", "typer", "sklearn", "kornia", "PIL")
    code = f"import sys, aninfonce; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_help_does_not_wait_for_torch():
    code = "import sys, aninfonce.cli.app; print('torch' in sys.modules, 'numpy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False False"


def test_lazy_names_are_listed_and_unknown_ones_refused():
    assert set(aninfonce.__all__) <= set(dir(aninfonce))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        aninfonce.Nothing  # noqa: B018


def test_versions_agree():
    assert f'version = "{aninfonce.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert f"version: {aninfonce.__version__}" in (ROOT / "CITATION.cff").read_text()


def test_files_stay_small():
    long = {
        str(path.relative_to(ROOT)): lines
        for folder in ("src", "tests", "benchmarks", "examples", "tools")
        for path in (ROOT / folder).rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 400
    }
    assert not long
