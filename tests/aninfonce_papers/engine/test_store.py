"""Results survive other writers and torn lines."""

import json
import subprocess
import sys
from contextlib import ExitStack

import pytest

from aninfonce_papers.engine.store import ResultStore, newest
from tests.aninfonce_papers.engine.toys import row

WRITER = """
import sys
from aninfonce_papers.engine.row import Row
from aninfonce_papers.engine.store import ResultStore
store, name = ResultStore(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.read()
for seed in range(60):
    store.append(
        Row(study="s", cell=name, seed=seed, configuration={"Λ": 5}, error=None, preset="smoke", seconds=1.0,
            metrics={"curve": [0.5] * 300}, published={}, versions={})
    )
"""


def changed(**change):
    """A line that is no row."""
    return json.dumps({**row().model_dump(), **change})


def test_rows_come_back_as_they_were(tmp_path):
    store = ResultStore(tmp_path / "new" / "folder")
    assert store.rows() == []
    store.append(row(0))
    store.append(row(1, "ValueError: ∑"))
    assert store.rows() == [row(0), row(1, "ValueError: ∑")]
    assert store.finished() == {row(0).key}


@pytest.mark.process
def test_processes_that_write_at_once_lose_nothing(tmp_path):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with ExitStack() as stack:
        writers = [
            stack.enter_context(subprocess.Popen([sys.executable, "-c", WRITER, tmp_path, name], **pipes))
            for name in ("a", "b", "c")
        ]
        # They start to write together, however long each took to come up.
        assert [writer.stdout.readline() for writer in writers] == [b"ready\n"] * 3
        for writer in writers:
            writer.stdin.close()
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    rows = ResultStore(tmp_path).rows()
    assert {(r.cell, r.seed) for r in rows} == {(n, s) for n in "abc" for s in range(60)}
    assert len(rows) == 180


def test_a_torn_last_line_costs_that_line_only(tmp_path):
    """Cut at every byte of the last line, in the middle of a letter too."""
    store = ResultStore(tmp_path)
    store.append(row(0))
    keep = store.path.stat().st_size
    store.append(row(1))
    whole = store.path.read_bytes()
    for size in range(keep, len(whole)):
        store.path.write_bytes(whole[:size])
        assert store.rows() == [row(0)]
        store.append(row(2))
        assert store.rows() == [row(0), row(2)]
        assert store.path.read_bytes().count(b"\n") == 2


def test_a_torn_first_line_longer_than_a_block(tmp_path):
    store = ResultStore(tmp_path)
    store.path.write_bytes(b"{" + b"x" * 10_000)
    assert store.rows() == []
    store.append(row(0))
    assert store.rows() == [row(0)]


def test_a_file_that_is_no_result_is_named(tmp_path):
    store = ResultStore(tmp_path)
    store.append(row(0))
    with store.path.open("a") as file:
        file.write("[1, 2]\n")
    with pytest.raises(ValueError, match=r"line 2, is not a result"):
        store.rows()


@pytest.mark.parametrize(
    "line",
    ["[" * 100_000, "{}", changed(seed=[1]), changed(metrics=3), "\0"],
)
def test_lines_of_the_wrong_shape_are_named(tmp_path, line):
    store = ResultStore(tmp_path)
    store.append(row(0))
    with store.path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=r"results\.jsonl, line 2, is not a result") as refusal:
        store.finished()
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "change",
    [{"preset": "smoky"}, {"published": {"r2": {"valve": 1}}}, {"seconds": "1"}, {"versions": 3}],
)
def test_every_field_is_checked(tmp_path, change):
    store = ResultStore(tmp_path)
    store.append(row(0))
    with store.path.open("a") as file:
        file.write(changed(**change) + "\n")
    with pytest.raises(ValueError, match="line 2, is not a result"):
        store.rows()


def test_nan_is_refused(tmp_path):
    store = ResultStore(tmp_path)
    with pytest.raises(ValueError, match="JSON"):
        store.append(row(metrics={"r2": float("nan")}))
    assert store.rows() == []


def test_success_outlives_failures():
    rows = [row(0, "broke"), row(0, finished="first"), row(0, "broke again"), row(1, "broke")]
    assert newest(rows) == [row(0, finished="first"), row(1, "broke")]
