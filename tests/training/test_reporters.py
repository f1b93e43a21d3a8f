import csv
import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

from aninfonce.training import TensorBoard, TrainingConfig, WeightsAndBiases
from aninfonce.training.progress_bar import ProgressBar
from aninfonce.training.reporters import TableFiles

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


def test_a_log_that_was_torn_is_whole_again_when_the_run_goes_on(tmp_path):
    first = TableFiles(tmp_path)
    first.start(TrainingConfig(), [])
    for step in (5, 10, 15):
        first.row({**ROW, "step": step})
    # The machine died while it wrote; the checkpoint is of step 10.
    for name in ("metrics.jsonl", "metrics.csv"):
        with (tmp_path / name).open("a") as file:
            file.write("20,1")
    again = TableFiles(tmp_path)
    again.start(TrainingConfig(), [{**ROW, "step": 5}, {**ROW, "step": 10}])
    again.row({**ROW, "step": 15})
    again.row({**ROW, "step": 20, "rank": 2.0})
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [5, 10, 15, 20]
    with (tmp_path / "metrics.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["step"] for row in table] == ["5", "10", "15", "20"]
    assert [row["rank"] for row in table] == ["", "", "", "2.0"]
