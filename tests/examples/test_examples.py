"""Every example runs, on little data, where its package is installed."""

import importlib
import importlib.util
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from aninfonce_papers.worlds.scenes import can_render

EXAMPLES = Path(__file__).parents[2] / "examples"
DROP_IN = {
    "plain_pytorch": None,
    "lightning_module": "lightning",
    "lightly_simclr": "lightly.models.modules",
    "metric_learning": "pytorch_metric_learning",
    "cebra_criterion": "cebra",
}


def load(name):
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", DROP_IN)
def test_runs(name):
    package = DROP_IN[name]
    with warnings.catch_warnings():
        # What other packages warn of is theirs.
        warnings.simplefilter("ignore")
        if package is not None:
            try:
                importlib.import_module(package)
            except (ImportError, RuntimeError) as problem:
                pytest.skip(f"{package} cannot be imported here: {problem}")
        assert 0 < load(name).main(steps=20) < 1.2


@pytest.mark.parametrize("name", DROP_IN)
def test_is_short(name):
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) <= 60


def test_the_table_of_recordings_is_that_of_the_results():
    recordings = load("recordings")
    shown = (EXAMPLES.parent / "docs" / "estimator.md").read_text()
    start, end = "<!-- recordings: start -->\n", "\n<!-- recordings: end -->"
    assert shown.split(start)[1].split(end)[0] == recordings.table(json.loads(recordings.RESULTS.read_text()))


def test_recordings_are_cut_into_windows():
    pytest.importorskip("seglearn", reason="seglearn, whose recordings these are, is not installed")
    rows, exercise, person, recording = load("recordings").windows()
    assert rows.shape == (len(exercise), 60)
    assert len(set(exercise)) == 7
    assert len(set(person)) == 10
    assert len(set(recording)) == 140


@pytest.mark.skipif(not can_render(), reason="nothing can be drawn here: there is no EGL")
def test_an_audit_of_scenes_writes_its_page_and_its_picture(tmp_path, capsys, monkeypatch):
    small = ["--pairs", "520", "--steps", "2", "--test-pairs", "300", "--out", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["scene_audit.py", *small])
    load("scene_audit").main()
    told = capsys.readouterr().out
    assert "Identifiability" in told
    assert "turn about z" in told
    assert (tmp_path / "index.html").exists()
    with Image.open(tmp_path / "lost.png") as picture:
        assert picture.size == (1000, 310)


def test_most_alike_is_never_the_row_itself():
    rows = np.array([[0.0], [0.1], [5.0], [4.0]])
    assert load("scene_audit").most_alike(rows).tolist() == [1, 0, 3, 2]
