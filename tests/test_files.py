from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import aninfonce
from aninfonce._files import append_line, remove_leftovers, whole_file, whole_folder


def test_a_file_appears_under_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "below" / "a.npz"
    with whole_file(path) as temporary:
        temporary.write_text("all of it")
        assert not path.exists()
        assert temporary.suffix == ".npz"
    assert path.read_text() == "all of it"
    assert list(path.parent.iterdir()) == [path]


def _write_half_a_file(path: Path) -> None:
    with whole_file(path) as temporary:
        temporary.write_text("half")
        raise OSError(28, "No space left on device")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(OSError, match="No space left"):
        _write_half_a_file(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "run"
    for names in (("a", "b"), ("c",)):
        with whole_folder(path) as temporary:
            for name in names:
                (temporary / name).write_text(name)
        assert {file.name for file in path.iterdir()} == set(names)
    assert list(tmp_path.iterdir()) == [path]


def _write_half_a_folder(path: Path) -> None:
    with whole_folder(path) as temporary:
        (temporary / "new").write_text("new")
        raise KeyboardInterrupt


def test_a_failed_folder_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    (path / "old").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        _write_half_a_folder(path)
    assert [file.name for file in path.iterdir()] == ["old"]
    assert list(tmp_path.iterdir()) == [path]


def test_leftovers_of_killed_processes_are_removed_and_those_of_living_ones_stay(tmp_path: Path) -> None:
    dead = 2**22 + 1  # more than any process has: the number of one that ended could be given again
    left_file = tmp_path / f".a.npz.{dead}.partial.npz"
    left_file.write_text("half")
    left_folder = tmp_path / f".step-1.{dead}.partial"
    left_folder.mkdir()
    living = tmp_path / f".b.npz.{os.getppid()}.partial.npz"
    living.write_text("half")
    other = tmp_path / "a.partial"
    other.write_text("somebody else's")
    assert set(remove_leftovers(tmp_path)) == {left_file, left_folder}
    assert set(tmp_path.iterdir()) == {living, other}
    assert remove_leftovers(tmp_path / "missing") == []


def test_under_a_lock_leftovers_go_whatever_their_number_and_a_folder_that_stepped_aside_returns(
    tmp_path: Path,
) -> None:
    # A process with this number runs: this one.
    half = tmp_path / f".step-1.{os.getpid()}.partial"
    half.mkdir()
    assert remove_leftovers(tmp_path) == []
    aside = tmp_path / f".old-step-1.{os.getpid()}.partial"
    aside.mkdir()
    (aside / "state").write_text("whole")
    assert remove_leftovers(tmp_path, alone=True) == [half]
    assert [path.name for path in tmp_path.iterdir()] == ["step-1"]
    assert (tmp_path / "step-1" / "state").read_text() == "whole"


def _fill_the_disk(path: Path) -> None:
    with whole_file(path) as temporary:
        temporary.write_text("half")
        raise OSError(28, "No space left on device")


def test_a_full_disk_is_told_by_the_name_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="make room") as caught:
        _fill_the_disk(tmp_path / "a.txt")
    assert caught.value.filename == str(tmp_path / "a.txt")


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(OSError, match="file"), whole_file(tmp_path / "file" / "a.txt"):
        pass


def _read_another(path: Path) -> None:
    with whole_file(path):
        (path.parent / "missing").read_text()


def test_problems_with_other_files_keep_their_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        _read_another(tmp_path / "a.txt")
    assert caught.value.filename == str(tmp_path / "missing")


def test_devices_are_written_to_and_links_stay_links(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with whole_file(pipe) as place:
        assert place == pipe
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    with whole_file(tmp_path / "link.txt") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_line_is_added_after_the_last_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("first\n" + "torn" * 3000)
    append_line(path, "second")
    assert path.read_text() == "first\nsecond\n"


_FULL = """
import resource, sys
from aninfonce._files import append_line
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
append_line(sys.argv[1], "x" * 2000)
"""


def test_a_line_that_does_not_fit_on_the_disk_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    append_line(path, "first")
    done = subprocess.run([sys.executable, "-c", _FULL, path], capture_output=True, text=True, check=False)
    assert "make room and try again" in done.stderr
    assert str(path) in done.stderr
    assert path.read_text() == "first\n"


def test_nothing_else_in_the_package_renames_files() -> None:
    package = Path(aninfonce.__file__).parent
    writers = [
        path.name for path in package.rglob("*.py") if "os.replace(" in path.read_text(encoding="utf-8")
    ]
    assert writers == ["_files.py"]
