"""Results survive other writers and torn lines."""

import json
import subprocess
import sys

import pytest

from aninfonce.studies.store import ResultStore, newest, row_key

WRITER = """
import sys
from aninfonce.studies.store import ResultStore
store, name = ResultStore(sys.argv[1]), sys.argv[2]
for seed in range(60):
    store.append(
        {"study": "s", "cell": name, "seed": seed, "configuration": {"Λ": 5}, "error": None,
         "metrics": {"curve": [0.5] * 300}}
    )
"""


def row(seed=0, error=None, **more):
    return {
        "study": "s",
        "cell": "a",
        "seed": seed,
        "configuration": {"Λ": [5, 25]},
        "metrics": {"r2": 0.5},
        "error": error,
        **more,
    }


def test_rows_come_back_as_they_were(tmp_path):
    store = ResultStore(tmp_path / "new" / "folder")
    assert store.rows() == []
    store.append(row(0))
    store.append(row(1, "ValueError: ∑"))
    assert store.rows() == [row(0), row(1, "ValueError: ∑")]
    assert store.finished() == {row_key(row(0))}


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name]) for name in ("a", "b", "c")
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0, 0]
    rows = ResultStore(tmp_path).rows()
    assert {(r["cell"], r["seed"]) for r in rows} == {(n, s) for n in "abc" for s in range(60)}
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


def test_incomplete_rows_and_nan_are_refused(tmp_path):
    store = ResultStore(tmp_path)
    with pytest.raises(ValueError, match="without metrics, error"):
        store.append({name: value for name, value in row().items() if name not in ("metrics", "error")})
    with pytest.raises(ValueError, match="JSON"):
        store.append(row(metrics={"r2": float("nan")}))
    assert store.rows() == []


def test_success_outlives_failures(tmp_path):
    rows = [row(0, "broke"), row(0, note="first"), row(0, "broke again"), row(1, "broke")]
    assert newest(rows) == [row(0, note="first"), row(1, "broke")]
    assert json.loads(json.dumps(rows)) == rows
