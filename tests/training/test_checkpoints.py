import json
import os
import pickle

import numpy as np
import pytest
import torch
from safetensors import SafetensorError

from aninfonce.training import CheckpointError
from aninfonce.training import checkpoints as checkpoint
from aninfonce.training.checkpoints import (
    FORMAT,
    Snapshot,
    checkpoints_in,
    last_snapshot_before,
    newest_snapshot,
    read_snapshot,
    save_snapshot,
    tidy_checkpoints,
    write_snapshot,
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
    with pytest.raises(CheckpointError, match=rf"newer version of aninfonce \(9.9, format {FORMAT + 1}"):
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


@pytest.mark.parametrize("name", ["state.json", "tensors.safetensors"])
def test_every_flipped_bit_is_seen(tmp_path, name):
    path = _save(tmp_path, 10) / name
    content = path.read_bytes()
    accepted = []
    for place in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            read_snapshot(path.parent)
        except CheckpointError:
            continue
        accepted.append(place)
    assert accepted == []


def test_facts_changed_by_hand_are_refused(tmp_path):
    path = _save(tmp_path, 10)
    facts = json.loads((path / "state.json").read_text())
    (path / "state.json").write_text(json.dumps(facts | {"step": 11}, indent=1))
    with pytest.raises(CheckpointError, match="checksum does not match"):
        read_snapshot(path)


def test_format_1_which_had_no_checksum_of_its_facts_is_read(tmp_path):
    path = _save(tmp_path, 10)
    facts = json.loads((path / "state.json").read_text())
    del facts["checksum"]
    (path / "state.json").write_text(json.dumps(facts | {"format": 1}))
    assert read_snapshot(path).facts["step"] == 10


def test_what_was_read_can_be_written_again(tmp_path):
    snapshot = read_snapshot(_save(tmp_path, 10))
    assert read_snapshot(write_snapshot(tmp_path / "again", snapshot)).facts["step"] == 10


def test_numpy_numbers_are_written_as_numbers(tmp_path):
    facts = {"a": np.int64(3), "b": [np.float32(0.5), np.bool_(True)], "c": {"d": np.arange(2)}}
    read = read_snapshot(write_snapshot(tmp_path / "one", Snapshot({}, facts))).facts
    assert (read["a"], read["b"], read["c"]) == (3, [0.5, True], {"d": [0, 1]})


def test_what_json_cannot_hold_is_refused_and_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="only numbers, texts, lists"):
        write_snapshot(tmp_path / "one", Snapshot({}, {"a": object()}))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_error_that_names_the_folder_and_the_one_before_stays(tmp_path, monkeypatch):
    before = _save(tmp_path, 10)

    def full(tensors, path):
        path.write_bytes(b"half")
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(OSError, match=r"No space left on device; .*make room") as caught:
        _save(tmp_path, 20)
    assert caught.value.filename == str(tmp_path / "checkpoints" / "step-00000020")
    assert list((tmp_path / "checkpoints").iterdir()) == [before]
    assert read_snapshot(before).facts["step"] == 10


def test_the_newest_written_stays_whatever_its_number(tmp_path):
    for step in (30, 40, 10, 20):
        path = _save(tmp_path, step)
        assert path.exists()
    assert [path.name[-2:] for path in checkpoints_in(tmp_path)] == ["10", "20", "30", "40"]


def test_tidying_removes_leftovers_by_their_old_and_new_names(tmp_path):
    kept = _save(tmp_path, 10)
    folder = tmp_path / "checkpoints"
    mine = os.getpid()
    for name in (".step-00000020.77", f".step-00000020.{mine}.partial", f".old-step-00000010.{mine}"):
        (folder / name).mkdir()
        (folder / name / "state.json").write_text("half")
    (tmp_path / f".config.json.{mine}.partial.json").write_text("half")
    (tmp_path / ".mine").write_text("somebody's")
    tidy_checkpoints(tmp_path)
    assert list(folder.iterdir()) == [kept]
    assert read_snapshot(kept).facts["step"] == 10
    assert {path.name for path in tmp_path.iterdir()} == {"checkpoints", ".mine"}


@pytest.mark.parametrize("aside", [".old-step-00000010.77", ".old-step-00000010.77.partial"])
def test_a_checkpoint_that_stepped_aside_for_one_that_never_came_is_back(tmp_path, aside):
    path = _save(tmp_path, 10)
    path.rename(path.with_name(aside))
    tidy_checkpoints(tmp_path)
    assert newest_snapshot(tmp_path)[0] == path


def test_the_last_before_a_step_can_be_read(tmp_path):
    first, second = _save(tmp_path, 10, keep=3), _save(tmp_path, 20, keep=3)
    _save(tmp_path, 30, keep=3)
    assert last_snapshot_before(tmp_path, 30) == second
    (second / "tensors.safetensors").write_bytes(b"cut")
    assert last_snapshot_before(tmp_path, 30) == first
    assert last_snapshot_before(tmp_path, 10) is None
