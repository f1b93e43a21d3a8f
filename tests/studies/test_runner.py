"""Sweeps that fail in part, are stopped, killed and resumed."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool

import pytest

from aninfonce.studies import ResultStore, find_study, plan, run_sweep
from tests.studies import toys

COMMAND = [sys.executable, "-c", "from aninfonce.cli import main; main()"]


def test_a_failing_cell_is_recorded_and_the_others_go_on(tmp_path):
    store = ResultStore(tmp_path)
    tasks = plan([toys.study()], "smoke", seeds=2, changes={"trace": str(tmp_path)})
    rows = run_sweep(tasks, store, jobs=2)
    assert len(rows) == len(store.rows()) == 10
    by_cell = {row["cell"]: row for row in store.rows() if row["seed"] == 1}
    assert by_cell["good"]["metrics"] == {"r2": 0.6}
    assert by_cell["good"]["error"] is None
    assert by_cell["fails"]["error"].startswith("RuntimeError: this cell breaks (toys.py:")
    assert by_cell["fails"]["metrics"] == {}
    assert by_cell["nan"]["error"].startswith("ValueError: Out of range float")
    assert by_cell["warns"]["warnings"] == ["something is odd"]
    assert by_cell["good"]["published"]["r2"]["value"] == 0.9
    assert {"aninfonce", "torch", "python"} <= set(by_cell["good"]["versions"])

    again = run_sweep(tasks, store, jobs=1)
    assert {row["cell"] for row in again} == {"fails", "nan"}
    ran = {path.name: path.read_text().count("ran") for path in tmp_path.glob("* ?")}
    assert ran["good 0"] == ran["also good 1"] == 1
    assert ran["fails 0"] == 2


def test_another_configuration_is_another_run(tmp_path):
    store = ResultStore(tmp_path)
    run_sweep(plan([toys.study()], "smoke", only=["good"]), store)
    assert run_sweep(plan([toys.study()], "smoke", only=["good"]), store) == []
    assert len(run_sweep(plan([toys.study()], "smoke", only=["good"], changes={"seconds": 0.01}), store)) == 1


def test_an_interrupted_cell_is_not_a_failure(tmp_path):
    store = ResultStore(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(plan([toys.of_kinds("good", "interrupted")], "smoke"), store)
    assert [row["cell"] for row in store.rows()] == ["good"]


def test_a_dying_worker_ends_the_sweep_but_costs_no_row(tmp_path):
    store = ResultStore(tmp_path)
    run_sweep(plan([toys.of_kinds("good")], "smoke"), store)
    with pytest.raises(BrokenProcessPool):
        run_sweep(plan([toys.of_kinds("good", "dies", "warns")], "smoke"), store, jobs=2)
    assert store.rows()[0]["cell"] == "good"


def test_bad_arguments():
    with pytest.raises(ValueError, match="backend"):
        run_sweep([], ResultStore("unused"), backend="dask")
    with pytest.raises(ValueError, match="address"):
        run_sweep([], ResultStore("unused"), address="auto")


@pytest.mark.parametrize(("stop", "jobs"), [(signal.SIGKILL, 2), (signal.SIGINT, 1)])
def test_a_stopped_run_loses_nothing_and_resumes(tmp_path, stop, jobs):
    """A real `aninfonce run`, hit once some of its rows are on disk."""
    command = [*COMMAND, "run", "fig5", "--preset", "smoke", "--seeds", "20", "--jobs", str(jobs)]
    command += ["--set", "samples=50000", "--out", str(tmp_path)]
    store = ResultStore(tmp_path)
    run = subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        while len(before := store.rows()) < 3 and run.poll() is None:
            time.sleep(0.02)
        os.killpg(run.pid, stop)
        _, told = run.communicate(timeout=60)
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
    assert len(before) >= 3
    kept = store.rows()
    assert kept[: len(before)] == before
    assert len(kept) < 40
    if stop == signal.SIGINT:
        assert run.returncode == 130
        assert "the same command goes on" in told
    else:
        assert run.returncode == -signal.SIGKILL

    tasks = plan([find_study("fig5")], "smoke", seeds=20, changes={"samples": 50_000})
    run_sweep(tasks, store)
    rows = store.rows()
    assert rows[: len(kept)] == kept
    assert len(rows) == len({(row["cell"], row["seed"]) for row in rows}) == 40


def test_on_a_local_ray(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed (pip install 'aninfonce[ray]')")
    store = ResultStore(tmp_path)
    tasks = plan([toys.study(), toys.of_kinds("dies")], "smoke")
    rows = run_sweep(tasks, store, jobs=2, backend="ray")
    assert {row["cell"] for row in rows if row["error"] is None} == {"good", "warns", "also good"}
    assert len(store.rows()) == 6
    assert "Error" in next(row["error"] for row in rows if row["cell"] == "dies")


def test_without_ray_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"aninfonce\[ray\]"):
        run_sweep(plan([toys.study()], "smoke"), ResultStore(tmp_path), backend="ray")
