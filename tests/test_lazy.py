"""Packages that import their names when they are first used."""

import importlib
import pickle
import subprocess
import sys

import pytest

LAZY = (
    "aninfonce",
    "aninfonce.alignment",
    "aninfonce.datasets",
    "aninfonce.plots",
    "aninfonce.processes",
    "aninfonce.sources",
    "aninfonce.training",
    "aninfonce_papers.engine",
    "aninfonce_papers.worlds.scenes",
)


@pytest.mark.parametrize("name", LAZY)
def test_every_name_of_the_stub_is_there(name):
    package = importlib.import_module(name)
    assert package.__all__ == sorted(package.__all__)
    assert set(package.__all__) <= set(dir(package))
    for public in package.__all__:
        value = getattr(package, public)
        assert value is getattr(package, public)


def test_a_module_does_not_hide_the_function_of_its_name():
    # Modules and functions that share a name; the module is imported first, as a test collector does.
    code = (
        "import aninfonce.datasets.fetch, aninfonce_papers.engine.plan\n"
        "from aninfonce.datasets import fetch\n"
        "from aninfonce_papers.engine import plan\n"
        "import aninfonce.datasets.fetch, aninfonce_papers.engine.plan\n"
        "from aninfonce.datasets.fetch import Route\n"
        "print(fetch.__name__, plan.__name__, aninfonce.datasets.fetch is fetch)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stdout.split() == ["fetch", "plan", "True"], result.stderr


def test_importing_a_package_does_not_wait_for_torch():
    code = (
        f"import sys, {', '.join(LAZY)}; print([name for name in ('torch', 'numpy') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("name", LAZY)
def test_a_package_is_sent_to_workers_by_name(name):
    package = importlib.import_module(name)
    sent = pytest.importorskip("cloudpickle").dumps(package)
    assert len(sent) < 200
    assert pickle.loads(sent) is package
