"""`aninfonce data convert` and `data sheet`, as a user calls them."""

import pickle

import numpy as np
import pytest

from aninfonce_papers.worlds.videos import generate_videos, load_videos
from tests.cli.test_commands import run


def test_convert(tmp_path):
    made = generate_videos(3, longest=5)
    content = {"pedestrians": list(made.masks), "pedestrians_latents": list(made.latents)}
    (tmp_path / "kitti.pickle").write_bytes(pickle.dumps(content))
    result = run("data", "convert", "kitti", tmp_path / "kitti.pickle", "--out", tmp_path / "kitti.npz")
    assert result.exit_code == 0, result.output
    assert f"3 videos, {made.frames} frames" in result.stdout
    np.testing.assert_array_equal(load_videos(tmp_path / "kitti.npz").masks[2], made.masks[2])


def test_what_cannot_be_converted(tmp_path):
    (tmp_path / "bad.pickle").write_bytes(b"cbuiltins\neval\n(S'1'\ntR.")
    result = run("data", "convert", "kitti", tmp_path / "bad.pickle", "--out", tmp_path / "kitti.npz")
    assert result.exit_code == 2
    assert "it asks to call builtins.eval" in result.output
    assert not (tmp_path / "kitti.npz").exists()
    assert run("data", "convert", "mnist", tmp_path / "bad.pickle", "--out", "x.npz").exit_code == 2


def test_sheet(tmp_path):
    result = run("data", "sheet", "generated", "--out", tmp_path / "sub" / "sheet.png", "--rows", 2)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "sub" / "sheet.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("command", ["convert", "sheet"])
def test_help_has_examples(command):
    assert f"aninfonce data {command} " in run("data", command, "--help").stdout
