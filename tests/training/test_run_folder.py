"""A folder belongs to one run, and while it trains to one process."""

import json
import signal
import subprocess
import sys

import pytest

from aninfonce.training import CheckpointError, TrainingConfig, fit, load_fitted
from aninfonce.training.checkpoints import checkpoints_in
from aninfonce.training.open_data import open_data
from aninfonce.training.reporters import Reporter
from aninfonce.training.run_folder import claim
from tests.training.small import small_config

SHORT = {"unfold": None, "close": None, "growth": []}


def _config(steps, **changes):
    return small_config(recipe={**SHORT, "steps": steps}, evaluate_every=0, **changes)


def _fit(config, directory, **options):
    return fit(open_data(config.data), config, directory=directory, **options)


def test_a_folder_that_holds_a_run_is_refused_and_left_alone(tmp_path):
    _fit(_config(30), tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(CheckpointError, match=r"already holds a run: .*resume=True.*overwrite=True"):
        _fit(_config(20), tmp_path)
    with pytest.raises(CheckpointError, match=r"other settings \(recipe.steps\)"):
        _fit(_config(20), tmp_path, resume=True)
    with pytest.raises(CheckpointError, match="exclude each other"):
        _fit(_config(30), tmp_path, resume=True, overwrite=True)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_overwriting_gives_the_new_run_and_removes_nothing_else(tmp_path):
    _fit(_config(30), tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "checkpoints" / "keep").mkdir()
    new = _fit(_config(20), tmp_path, overwrite=True)
    loaded = load_fitted(tmp_path)
    assert (loaded.step, loaded.config.recipe.steps) == (20, 20)
    for name, tensor in new.encoder.state_dict().items():
        assert tensor.equal(loaded.encoder.state_dict()[name])
    assert [path.name for path in checkpoints_in(tmp_path)] == ["step-00000010", "step-00000020"]
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [10, 20]
    assert TrainingConfig.model_validate_json((tmp_path / "config.json").read_text()) == loaded.config
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "checkpoints" / "keep").exists()


def test_a_run_without_a_checkpoint_counts_too(tmp_path):
    class _Fails(Reporter):
        def row(self, row):
            raise RuntimeError("the power went")

    with pytest.raises(RuntimeError, match="the power went"):
        _fit(_config(20), tmp_path, reporters=[_Fails()])
    assert checkpoints_in(tmp_path) == []
    with pytest.raises(CheckpointError, match="already holds a run"):
        _fit(_config(20), tmp_path)
    with pytest.raises(CheckpointError, match=r"other settings \(seed\)"):
        _fit(_config(20, seed=6), tmp_path, resume=True)
    assert _fit(_config(20), tmp_path, resume=True).step == 20


def test_settings_that_came_later_have_their_default_in_older_runs(tmp_path):
    _fit(_config(20), tmp_path)
    path = tmp_path / "config.json"
    settings = json.loads(path.read_text())
    del settings["recipe"]["muon_refresh"]
    path.write_text(json.dumps(settings))
    assert _fit(_config(20), tmp_path, resume=True).step == 20


class _TriesToo(Reporter):
    """Starts a second training in the same folder while the first runs."""

    def __init__(self, directory):
        self.directory = directory
        self.problem = None

    def row(self, row):
        with pytest.raises(CheckpointError) as caught:
            _fit(_config(20), self.directory, overwrite=True)
        self.problem = str(caught.value)


def test_two_trainings_in_one_folder_are_one_too_many(tmp_path):
    second = _TriesToo(tmp_path)
    _fit(_config(20), tmp_path, reporters=[second])
    assert f"{tmp_path} is in use by another training" in second.problem
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [10, 20]


_HOLDS = """
import sys
from pathlib import Path
from aninfonce.training import TrainingConfig
from aninfonce.training.run_folder import claim
with claim(Path(sys.argv[1]), TrainingConfig(), resume=False, overwrite=False):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.process
def test_a_killed_process_lets_go_of_its_folder(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDS, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(CheckpointError, match="is in use by another training"):
            _fit(_config(20), tmp_path)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert _fit(_config(20), tmp_path).step == 20


def test_what_a_killed_process_left_is_removed_at_the_next_start(tmp_path):
    leftover = tmp_path / "checkpoints" / ".step-00000010.77"
    leftover.mkdir(parents=True)
    with claim(tmp_path, TrainingConfig(), resume=False, overwrite=False):
        assert not leftover.exists()
