"""A run that is killed or told to stop goes on as if nothing had happened, bit for bit."""

import json
import os
import signal

import pytest
import torch
import yaml

from aninfonce.alignment import closing
from aninfonce.training import NonFiniteLoss, Trainer, TrainingConfig, TrainingInterrupted, fit, load_fitted
from aninfonce.training.checkpoints import CheckpointError, checkpoints_in, newest_snapshot, read_snapshot
from aninfonce.training.open_data import open_data
from aninfonce.training.packing import pack
from aninfonce.training.reporters import Reporter
from tests.held import held_command
from tests.training.small import small_config

CONFIG = small_config(recipe={"steps": 120}, checkpoint_every=20, log_every=30, evaluate_every=60)


def _pairs():
    return open_data(CONFIG.data)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    directory = tmp_path_factory.mktemp("whole")
    fit(_pairs(), CONFIG, directory=directory)
    return newest_snapshot(directory)[1]


def _held_training(place, tmp_path):
    """The training in a process of its own, held at a place."""
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(CONFIG.model_dump(mode="json")))
    return held_command(place, "train", config, "--out", tmp_path / "run", "--accelerator", "cpu")


def _assert_same(found, expected):
    assert found.tensors.keys() == expected.tensors.keys()
    different = [
        name for name, value in expected.tensors.items() if not torch.equal(value, found.tensors[name])
    ]
    assert different == []
    rows = [
        [{k: v for k, v in row.items() if k != "seconds"} for row in s.facts["history"]]
        for s in (found, expected)
    ]
    assert rows[0] == rows[1]


@pytest.mark.process
@pytest.mark.parametrize(("when", "kept"), [("before", 40), ("after", 60)])
def test_kill_and_resume_is_bit_identical(tmp_path, uninterrupted, when, kept):
    """Killed while it writes a checkpoint, and right after it has written one."""
    with _held_training(f"{when} step-00000060", tmp_path) as process:
        process.kill()
        process.wait()
    assert newest_snapshot(tmp_path / "run")[1].facts["step"] == kept
    fit(_pairs(), CONFIG, directory=tmp_path / "run", resume=True)
    _assert_same(newest_snapshot(tmp_path / "run")[1], uninterrupted)
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [30, 60, 90, 120, 120]


@pytest.mark.process
def test_a_signal_saves_and_exits_cleanly(tmp_path, uninterrupted):
    with _held_training("after step-00000060", tmp_path) as process:
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate()
    assert process.returncode == 128 + signal.SIGTERM, output
    assert "saved" in output
    assert "--resume" in output
    assert "Traceback" not in output
    assert newest_snapshot(tmp_path / "run")[1].facts["step"] == 61
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
@pytest.mark.process
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


@pytest.fixture(scope="module")
def closed_run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("closed")
    config = small_config()
    fit(open_data(config.data), config, directory=directory)
    return newest_snapshot(directory)[1]


# In the fit of the full metric, and in that of the diagonal: the weights are already turned then.
@pytest.mark.process
@pytest.mark.parametrize("call", [1, 2])
def test_a_signal_ends_the_closing_fits_at_once_with_what_was_trained(
    tmp_path, monkeypatch, closed_run, call
):
    config, calls = small_config(), []
    real = closing.fit_metric

    def interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGINT)
        return real(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(closing, "fit_metric", interrupted)
        with pytest.raises(TrainingInterrupted, match="SIGINT after step 60; saved") as caught:
            fit(open_data(config.data), config, directory=tmp_path)
    assert len(calls) == call
    path, snapshot = newest_snapshot(tmp_path)
    assert path == caught.value.checkpoint
    assert (snapshot.facts["step"], snapshot.facts["closed"]) == (60, False)
    fit(open_data(config.data), config, directory=tmp_path, resume=True)
    _assert_same(newest_snapshot(tmp_path)[1], closed_run)


def test_a_failure_in_the_closing_fits_loses_no_step(tmp_path, monkeypatch, closed_run):
    config = small_config(checkpoint_every=0)
    with monkeypatch.context() as patch:
        patch.setattr(closing, "sphering_map", None)
        with pytest.raises(TypeError):
            fit(open_data(config.data), config, directory=tmp_path)
    assert newest_snapshot(tmp_path)[1].facts["step"] == 60
    fit(open_data(config.data), config, directory=tmp_path, resume=True)
    _assert_same(newest_snapshot(tmp_path)[1], closed_run)


@pytest.mark.process
def test_a_signal_while_the_last_checkpoint_is_written_is_heard(tmp_path, monkeypatch):
    config = small_config(recipe={"unfold": None, "close": None, "growth": [], "steps": 10})
    trainer = Trainer(open_data(config.data), config, directory=tmp_path)
    save = trainer.save

    def interrupted():
        os.kill(os.getpid(), signal.SIGTERM)
        return save()

    monkeypatch.setattr(trainer, "save", interrupted)
    with pytest.raises(TrainingInterrupted, match="SIGTERM after step 10"):
        trainer.fit()
    assert newest_snapshot(tmp_path)[1].facts["closed"]
    assert fit(open_data(config.data), config, directory=tmp_path, resume=True).step == 10


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


def _trainer(tmp_path, **changes):
    config = small_config(recipe={"unfold": None, "close": None, "growth": []}, **changes)
    return Trainer(open_data(config.data), config, directory=tmp_path)


def _resumes(checkpoint, **changes):
    """Whether the step after a checkpoint is finite, on its own pairs."""
    trainer = _trainer(None, **changes)
    trainer.restore(read_snapshot(checkpoint))
    trainer._one_step()
    return trainer._has_finite_weights()


def test_a_checkpoint_whose_very_next_step_fails_is_not_the_last_good_one(tmp_path):
    trainer = _trainer(tmp_path)
    draw = trainer.source.next

    def poisoned(n):
        batch = draw(n)
        if trainer.step == 20:
            batch.x[0, 0] = torch.nan
        return batch

    trainer.source.next = poisoned
    with pytest.raises(NonFiniteLoss, match=r"loss nan at step 20, .*step-00000010"):
        trainer.fit()


def test_weights_that_are_not_finite_are_never_written(tmp_path):
    trainer = _trainer(tmp_path)
    one_step = trainer._one_step

    def spoiled():
        value = one_step()
        if trainer.step == 20:
            with torch.no_grad():
                next(trainer.embedding.parameters()).fill_(torch.inf)
        return value

    trainer._one_step = spoiled
    with pytest.raises(NonFiniteLoss, match=r"weights that are not finite at step 20, .*10$") as caught:
        trainer.fit()
    assert [path.name for path in checkpoints_in(tmp_path)] == ["step-00000010"]
    assert _resumes(caught.value.checkpoint)


@pytest.mark.parametrize("at", [20, 21, 25])
def test_the_last_good_checkpoint_resumes_whenever_the_weights_break(tmp_path, at):
    changes = {"checkpoint_every": 5}
    trainer = _trainer(tmp_path, **changes)
    one_step = trainer._one_step

    def spoiled():
        # The optimiser makes the weights infinite at the end of this step.
        value = one_step()
        if trainer.step == at:
            with torch.no_grad():
                next(trainer.embedding.parameters()).fill_(torch.inf)
        return value

    trainer._one_step = spoiled
    with pytest.raises(NonFiniteLoss) as caught:
        trainer.fit()
    # From step at − 1 the very next step would break the weights.
    assert caught.value.checkpoint == checkpoints_in(tmp_path)[-1 if at != 21 else -2]
    assert _resumes(caught.value.checkpoint, **changes)


def test_a_network_with_its_channels_last_goes_on_bit_for_bit(tmp_path):
    """A fused optimiser reads memory in its own order, so its state must lie as the weights do."""
    images = torch.rand(64, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    config = TrainingConfig.model_validate(
        {
            "recipe": {"steps": 8, "batch_size": 16, "growth": (), "unfold": None, "close": None},
            "encoder": {"name": "small-conv", "options": {"width": 8}},
            "dim": 3,
            "checkpoint_every": 4,
            "evaluate_every": 0,
            "held_out": 0.0,
            "evaluation_pairs": 256,
        }
    )
    fit((images, images.flip(3)), config, directory=tmp_path)
    whole = newest_snapshot(tmp_path)[1]
    (half,) = [path for path in checkpoints_in(tmp_path) if path.name == "step-00000004"]
    trainer = Trainer((images, images.flip(3)), config)
    trainer.restore(read_snapshot(half))
    trainer.fit()
    expected = {k: v for k, v in whole.tensors.items() if k.startswith(("encoder.", "optimizer."))}
    found = pack(trainer).tensors
    assert [name for name, value in expected.items() if not torch.equal(value, found[name])] == []
