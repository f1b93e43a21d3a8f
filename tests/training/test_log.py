import sys
from types import ModuleType, SimpleNamespace

import pytest

from aninfonce.training import TensorBoard, TrainingConfig, WeightsAndBiases
from aninfonce.training.progress import ProgressBar

ROW = {"step": 5, "loss": 1.5, "concentration": [4.0, 25.0], "r2": 0.9}


def test_a_missing_tracker_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "wandb", None)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ValueError, match=r"aninfonce\[wandb\]"):
        WeightsAndBiases()
    with pytest.raises(ValueError, match=r"aninfonce\[tensorboard\]"):
        TensorBoard(tmp_path)


def test_weights_and_biases_gets_settings_and_rows(monkeypatch):
    seen = []
    run = SimpleNamespace(log=lambda row, step: seen.append((row, step)), finish=lambda: seen.append("end"))
    wandb = ModuleType("wandb")
    wandb.init = lambda **options: seen.append(options) or run
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    reporter = WeightsAndBiases("mine", name="first")
    reporter.start(TrainingConfig(), [])
    reporter.row(ROW)
    reporter.finish()
    assert (seen[0]["project"], seen[0]["name"]) == ("mine", "first")
    assert seen[0]["config"]["recipe"]["name"] == "fast"
    assert seen[1] == (
        {"step": 5, "loss": 1.5, "concentration_1": 4.0, "concentration_2": 25.0, "r2": 0.9},
        5,
    )
    assert seen[2] == "end"


def test_tensorboard_gets_scalars(monkeypatch, tmp_path):
    seen = []

    class SummaryWriter:
        def __init__(self, folder):
            seen.append(folder)

        def add_scalar(self, name, value, step):
            seen.append((name, value, step))

        def close(self):
            seen.append("end")

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    reporter = TensorBoard(tmp_path)
    reporter.row(ROW)
    reporter.finish()
    assert seen == [
        str(tmp_path),
        ("loss", 1.5, 5),
        ("concentration_1", 4.0, 5),
        ("concentration_2", 25.0, 5),
        ("r2", 0.9, 5),
        "end",
    ]


def test_progress_bar_starts_where_a_resumed_run_stands(capfd):
    bar = ProgressBar("run")
    bar.start(TrainingConfig(recipe={"steps": 10}), [ROW])
    bar.row({"step": 10, "loss": 1.25})
    bar.finish()
    shown = capfd.readouterr().err
    assert "100%" in shown
    assert "loss 1.250" in shown
    assert "R² 0.900" in shown
