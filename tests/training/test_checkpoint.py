import json
import pickle

import pytest
import torch

from aninfonce.training import CheckpointError
from aninfonce.training.checkpoint import (
    FORMAT,
    Snapshot,
    checkpoints_in,
    newest_snapshot,
    read_snapshot,
    save_snapshot,
)


def _save(directory, step, keep=2):
    snapshot = Snapshot(
        {"w": torch.full((3,), float(step))}, {"step": step, "versions": {"aninfonce": "9.9"}}
    )
    return save_snapshot(directory, step, snapshot, keep)


def test_round_trip_and_only_the_newest_two_stay(tmp_path):
    for step in (10, 20, 30):
        _save(tmp_path, step)
    assert [path.name for path in checkpoints_in(tmp_path)] == ["step-00000020", "step-00000030"]
    path, snapshot = newest_snapshot(tmp_path)
    assert path.name == "step-00000030"
    assert torch.equal(snapshot.tensors["w"], torch.full((3,), 30.0))
    assert snapshot.facts["step"] == 30
    assert {p.name for p in (tmp_path / "checkpoints").iterdir()} == {"step-00000020", "step-00000030"}


def test_the_same_step_may_be_written_twice(tmp_path):
    _save(tmp_path, 10)
    path = _save(tmp_path, 10)
    assert read_snapshot(path).facts["step"] == 10
    assert len(list((tmp_path / "checkpoints").iterdir())) == 1


@pytest.mark.parametrize("name", ["tensors.safetensors", "state.json"])
def test_a_checkpoint_cut_short_is_named_and_the_previous_used(tmp_path, name):
    _save(tmp_path, 10)
    path = _save(tmp_path, 20)
    content = (path / name).read_bytes()
    (path / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match="cut short or damaged"):
        read_snapshot(path)
    with pytest.warns(UserWarning, match="step-00000010 instead"):
        found, _ = newest_snapshot(tmp_path)
    assert found.name == "step-00000010"


def test_a_missing_file_is_named(tmp_path):
    path = _save(tmp_path, 10)
    (path / "tensors.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"tensors.safetensors cannot be read"):
        newest_snapshot(tmp_path)


def test_a_newer_version_is_named_and_the_previous_used(tmp_path):
    _save(tmp_path, 10)
    path = _save(tmp_path, 20)
    facts = json.loads((path / "state.json").read_text())
    (path / "state.json").write_text(json.dumps(facts | {"format": FORMAT + 1}))
    with pytest.raises(CheckpointError, match=r"newer version of aninfonce \(9.9, format 2"):
        read_snapshot(path)
    with pytest.warns(UserWarning, match="using step-00000010"):
        found, _ = newest_snapshot(tmp_path)
    assert found.name == "step-00000010"


def test_leftovers_of_a_killed_writer_are_not_checkpoints(tmp_path):
    _save(tmp_path, 10)
    (tmp_path / "checkpoints" / ".step-00000020.77").mkdir()
    assert newest_snapshot(tmp_path)[0].name == "step-00000010"


def test_an_empty_directory_has_none(tmp_path):
    assert newest_snapshot(tmp_path) is None


class _Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a checkpoint was unpickled",))


def test_nothing_is_unpickled(tmp_path):
    path = _save(tmp_path, 10)
    (path / "tensors.safetensors").write_bytes(pickle.dumps(_Bomb()))
    with pytest.raises(CheckpointError):
        read_snapshot(path)
