"""What is published: a wheel and an sdist that hold everything, with a description that PyPI can show."""

import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import aninfonce

ROOT = Path(__file__).parents[1]
PACKAGES = ("aninfonce", "aninfonce_papers")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    for name in ("build", "hatchling", "twine"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    out = tmp_path_factory.mktemp("dist")
    # With the hatchling that is installed: a test needs no network.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


@pytest.mark.process
def test_twine_has_no_complaint(built):
    command = [sys.executable, "-m", "twine", "check", "--strict", *built]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.process
def test_the_wheel_holds_every_file_of_both_packages(built):
    with zipfile.ZipFile(built[0]) as wheel:
        names = set(wheel.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        about = Parser().parsestr(wheel.read(metadata).decode())
    source = ROOT / "src"
    files = (path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    # Templates, style sheet, stubs and meshes among them.
    assert {path.relative_to(source).as_posix() for path in files} <= names
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == set(PACKAGES)
    assert about["Version"] == aninfonce.__version__
    assert about["Requires-Python"] == ">=3.11"
    assert about.get_payload().startswith((ROOT / "README.md").read_text()[:40])


@pytest.mark.process
def test_the_sdist_holds_what_a_packager_needs(built):
    with tarfile.open(built[1]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "pyproject.toml"):
        assert name in names
    assert "tests/test_packaging.py" in names
    assert not [name for name in names if name.startswith((".git/", ".venv", "demo/", "site/"))]
