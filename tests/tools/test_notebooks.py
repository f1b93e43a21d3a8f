"""The notebooks are what their scripts make, and every cell of them runs."""

import warnings

import matplotlib
import nbformat
import pytest

from tools import notebooks


def test_every_script_has_a_notebook_and_nothing_else_is_there():
    assert {path.stem for path in notebooks.SCRIPTS.glob("*.py")} == set(notebooks.NAMES)
    assert {path.stem for path in notebooks.NOTEBOOKS.glob("*")} == set(notebooks.NAMES)


@pytest.mark.parametrize("name", notebooks.NAMES)
def test_is_what_its_script_makes(name):
    path = notebooks.NOTEBOOKS / f"{name}.ipynb"
    assert path.read_text(encoding="utf-8") == notebooks.text(name), "run `python -m tools.notebooks`"


@pytest.mark.parametrize("name", notebooks.NAMES)
def test_starts_with_a_title_and_ends_without_outputs(name):
    cells = nbformat.read(notebooks.NOTEBOOKS / f"{name}.ipynb", 4).cells
    assert cells[0].cell_type == "markdown"
    assert cells[0].source.startswith("# ")
    assert not any(cell.get("outputs") for cell in cells)


# In this process, on little data: a kernel for each would import torch five times over.
@pytest.mark.process
@pytest.mark.parametrize("name", notebooks.NAMES)
def test_every_cell_runs(name, tmp_path, monkeypatch):
    if name == "my_images":
        pytest.importorskip("kornia", reason="kornia, which augments pictures, is not installed")
    monkeypatch.setenv("ANINFONCE_QUICK", "1")
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = {"__name__": "__main__"}
    try:
        with warnings.catch_warnings():
            # Runs this short are warned of, and rightly.
            warnings.simplefilter("ignore")
            for place, cell in enumerate(notebooks.make(name).cells):
                if cell.cell_type == "code":
                    exec(compile(cell.source, f"{name}, cell {place}", "exec"), names)
    finally:
        pyplot.close("all")
