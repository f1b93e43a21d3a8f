"""A run that is killed or told to stop goes on as if nothing had happened, bit for bit."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch
import yaml

from aninfonce.training import NonFiniteLoss, Trainer, TrainingInterrupted, fit, load_fitted
from aninfonce.training.checkpoint import CheckpointError, checkpoints_in, newest_snapshot
from aninfonce.training.data import open_data
from aninfonce.training.log import Reporter
from tests.training.small import small_config

# Enough steps that a process which writes its first checkpoint has most of them before it.
CONFIG = small_config(recipe={"steps": 400}, checkpoint_every=20, log_every=50, evaluate_every=100)


def _pairs():
    return open_data(CONFIG.data)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    directory = tmp_path_factory.mktemp("whole")
    fit(_pairs(), CONFIG, directory=directory)
    return newest_snapshot(directory)[1]


def _start(tmp_path):
    """Start the training in a process of its own and wait for its first checkpoint."""
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(CONFIG.model_dump(mode="json")))
    command = [sys.executable, "-c", "from aninfonce.cli import main; main()", "train", "config.yaml"]
    process = subprocess.Popen(
        [*command, "--out", "run", "--accelerator", "cpu"],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not checkpoints_in(tmp_path / "run"):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.002)
    return process


def _assert_same(found, expected):
    assert found.tensors.keys() == expected.tensors.keys()
    # The global random state is not the run's: nothing in it draws from there.
    names = expected.tensors.keys() - {"random.torch"}
    different = [name for name in names if not torch.equal(expected.tensors[name], found.tensors[name])]
    assert different == []
    rows = [
        [{k: v for k, v in row.items() if k != "seconds"} for row in s.facts["history"]]
        for s in (found, expected)
    ]
    assert rows[0] == rows[1]


def test_kill_and_resume_is_bit_identical(tmp_path, uninterrupted):
    process = _start(tmp_path)
    process.kill()
    process.communicate()
    stopped = newest_snapshot(tmp_path / "run")[1].facts["step"]
    assert stopped < CONFIG.recipe.steps
    fit(_pairs(), CONFIG, directory=tmp_path / "run", resume=True)
    _assert_same(newest_snapshot(tmp_path / "run")[1], uninterrupted)
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [*range(50, 401, 50), 400]


def test_a_signal_saves_and_exits_cleanly(tmp_path, uninterrupted):
    process = _start(tmp_path)
    process.send_signal(signal.SIGTERM)
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 128 + signal.SIGTERM, output
    assert "saved" in output
    assert "--resume" in output
    assert "Traceback" not in output
    fit(_pairs(), CONFIG, directory=tmp_path / "run", resume=True)
    _assert_same(newest_snapshot(tmp_path / "run")[1], uninterrupted)


class _StopAt(Reporter):
    """Sends this process a signal at a step."""

    def __init__(self, step):
        self.step = step

    def row(self, row):
        if row["step"] == self.step:
            os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(scope="module")
def small_run():
    config = small_config(log_every=5)
    return fit(open_data(config.data), config)


# Before, at and after each change of phase: 30 (to the sphere, batch growth) and 45 (again).
@pytest.mark.parametrize("step", [10, 30, 45, 60])
def test_resume_at_every_phase(tmp_path, small_run, step):
    config, expected = small_config(log_every=5), small_run
    with pytest.raises(TrainingInterrupted, match=f"SIGINT after step {step}"):
        fit(open_data(config.data), config, directory=tmp_path, reporters=[_StopAt(step)])
    found = fit(open_data(config.data), config, directory=tmp_path, resume=True)
    for name, tensor in expected.encoder.state_dict().items():
        assert torch.equal(tensor, found.encoder.state_dict()[name]), name
    assert torch.equal(expected.concentration, found.concentration)
    assert expected.folding == found.folding


def test_a_finished_run_is_not_trained_again(tmp_path):
    config = small_config()
    first = fit(open_data(config.data), config, directory=tmp_path)
    second = fit(open_data(config.data), config, directory=tmp_path, resume=True)
    loaded = load_fitted(tmp_path)
    x = open_data(config.data).sample(10, torch.Generator().manual_seed(0)).x
    assert torch.equal(first.embed(x), second.embed(x))
    assert torch.equal(first.embed(x), loaded.embed(x))
    assert torch.equal(first.concentration, loaded.concentration)
    assert loaded.folding == first.folding
    assert loaded.config == first.config


def test_other_settings_are_refused(tmp_path):
    config = small_config()
    fit(open_data(config.data), config, directory=tmp_path)
    with pytest.raises(CheckpointError, match=r"other settings \(seed\)"):
        fit(open_data(config.data), small_config(seed=6), directory=tmp_path, resume=True)


def test_a_non_finite_loss_says_all_and_keeps_the_last_good_checkpoint(tmp_path):
    config = small_config()
    trainer = Trainer(open_data(config.data), config, directory=tmp_path)
    draw = trainer.source.next

    def poisoned(n):
        batch = draw(n)
        if trainer.step == 25:
            batch.x[0, 0] = torch.nan
        return batch

    trainer.source.next = poisoned
    with pytest.raises(NonFiniteLoss, match=r"loss nan at step 25, Λ̂ = \[.*step-00000020") as caught:
        trainer.fit()
    assert caught.value.step == 25
    assert len(caught.value.concentration) == 10
    assert caught.value.checkpoint.name == "step-00000020"
