"""The written rules of the house, enforced."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

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


def test_the_version_stands_in_one_place():
    """The package reads it from there; the citation and the changelog, which are read as they are, agree."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/aninfonce/__init__.py"
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == aninfonce.__version__
    assert f"\n## [{aninfonce.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_citation_names_both_papers():
    """What citation tools ask for is there, and so are the papers, with where to find them."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors", "abstract", "keywords", "license"} <= set(citation)
    papers = citation["references"]
    assert [paper["year"] for paper in papers] == [2025, 2021]
    for paper in papers:
        assert {"type", "title", "authors", "collection-title", "start", "end", "url"} <= set(paper)
        assert all({"family-names", "given-names"} <= set(author) for author in paper["authors"])


def test_forms_for_issues_are_valid():
    forms = [path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config"]
    assert len(forms) >= 3
    for path in forms:
        form = yaml.safe_load(path.read_text())
        assert {"name", "description", "body"} <= set(form)
        names = [field["id"] for field in form["body"] if field["type"] != "markdown"]
        assert len(names) == len(set(names)) > 0


def test_files_stay_small():
    long = {
        str(path.relative_to(ROOT)): lines
        for folder in ("src", "tests", "benchmarks", "examples", "tools")
        for path in (ROOT / folder).rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 400
    }
    assert not long
