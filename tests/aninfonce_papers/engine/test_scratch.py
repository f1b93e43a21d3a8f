import pytest
import torch

from aninfonce.training.checkpoints import Snapshot, save_snapshot
from aninfonce_papers.engine.scratch import scratch, scratch_folder

KEY = ("study", "cell", 0)


def leave_checkpoint(parent):
    """Stand in for a cell that writes a checkpoint and is stopped, with the checkpoint's path."""
    with scratch(parent, KEY) as before:
        assert before == 0.0
        facts = {"seconds": 12.5}
        path = save_snapshot(scratch_folder(), 10, Snapshot({"w": torch.ones(2)}, facts))
        raise KeyboardInterrupt(path)


def test_the_time_before_a_stop_counts(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        leave_checkpoint(tmp_path)
    with scratch(tmp_path, ("study", "another cell", 0)) as before:
        assert before == 0.0
    with scratch(tmp_path, KEY) as before:
        assert before == 12.5
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_that_cannot_be_read_counts_for_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt) as stopped:
        leave_checkpoint(tmp_path)
    (stopped.value.args[0] / "tensors.safetensors").write_bytes(b"")
    with scratch(tmp_path, KEY) as before:
        assert before == 0.0


def test_outside_a_sweep_there_is_no_folder():
    with scratch(None, KEY) as before:
        assert before == 0.0
        assert scratch_folder() is None
