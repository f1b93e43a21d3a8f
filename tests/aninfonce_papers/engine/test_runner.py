"""Sweeps that fail in part, are stopped, killed and resumed."""

import os
import signal
import sys
import time
from concurrent.futures.process import BrokenProcessPool

import pytest

from aninfonce_papers.engine import ResultStore, find_study, plan, run_sweep
from tests.aninfonce_papers.engine import toys
from tests.held import held_command


@pytest.mark.process
def test_a_failing_cell_is_recorded_and_the_others_go_on(tmp_path):
    store = ResultStore(tmp_path)
    tasks = plan([toys.study()], "smoke", seeds=2, changes={"score.trace": str(tmp_path)})
    rows = run_sweep(tasks, store, jobs=2)
    assert len(rows) == len(store.rows()) == 10
    by_cell = {row.cell: row for row in store.rows() if row.seed == 1}
    assert by_cell["good"].metrics == {"r2": 0.6}
    assert by_cell["good"].error is None
    assert by_cell["fails"].error.startswith("RuntimeError: this cell breaks (toys.py:")
    assert by_cell["fails"].metrics == {}
    assert by_cell["nan"].error.startswith("ValueError: Out of range float")
    assert by_cell["warns"].warnings == ["something is odd"]
    assert by_cell["good"].published["r2"].value == 0.9
    assert {"aninfonce", "torch", "python"} <= set(by_cell["good"].versions)

    again = run_sweep(tasks, store, jobs=1)
    assert {row.cell for row in again} == {"fails", "nan"}
    ran = {path.name: path.read_text().count("ran") for path in tmp_path.glob("* ?")}
    assert ran["good 0"] == ran["also good 1"] == 1
    assert ran["fails 0"] == 2


def test_another_configuration_is_another_run(tmp_path):
    store = ResultStore(tmp_path)
    run_sweep(plan([toys.study()], "smoke", only=["good"]), store)
    assert run_sweep(plan([toys.study()], "smoke", only=["good"]), store) == []
    assert (
        len(run_sweep(plan([toys.study()], "smoke", only=["good"], changes={"score.seconds": 0.01}), store))
        == 1
    )


def test_an_interrupted_cell_is_not_a_failure(tmp_path):
    store = ResultStore(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(plan([toys.of_kinds("good", "interrupted")], "smoke"), store)
    assert [row.cell for row in store.rows()] == ["good"]


@pytest.mark.process
def test_a_dying_worker_ends_the_sweep_but_costs_no_row(tmp_path):
    store = ResultStore(tmp_path)
    run_sweep(plan([toys.of_kinds("good")], "smoke"), store)
    with pytest.raises(BrokenProcessPool):
        run_sweep(plan([toys.of_kinds("good", "dies", "warns")], "smoke"), store, jobs=2)
    assert store.rows()[0].cell == "good"


def test_bad_arguments():
    with pytest.raises(ValueError, match="backend"):
        run_sweep([], ResultStore("unused"), backend="dask")
    with pytest.raises(ValueError, match="address"):
        run_sweep([], ResultStore("unused"), address="auto")


@pytest.mark.process
@pytest.mark.parametrize(("stop", "jobs"), [(signal.SIGKILL, 2), (signal.SIGINT, 1)])
def test_a_stopped_run_loses_nothing_and_resumes(tmp_path, stop, jobs):
    """A real `aninfonce run`, hit in the middle of its cells once some of its rows are on disk."""
    options = ["--preset", "smoke", "--seeds", "4", "--jobs", jobs, "--out", tmp_path]
    store = ResultStore(tmp_path)
    with held_command("seed 2", "run", "fig5", *options, processes=jobs) as run:
        while len(before := store.rows()) < 4:
            # Another worker may be held while the last row is still on its way.
            assert run.poll() is None
            time.sleep(0.01)
        os.killpg(run.pid, stop)
        told, _ = run.communicate()
    kept = store.rows()
    assert kept == before
    assert sorted(row.seed for row in kept) == [0, 0, 1, 1]
    if stop == signal.SIGINT:
        assert run.returncode == 130
        assert "run the same command again to go on" in told
    else:
        assert run.returncode == -signal.SIGKILL

    run_sweep(plan([find_study("fig5")], "smoke", seeds=4), store)
    rows = store.rows()
    assert rows[:4] == kept
    assert len(rows) == len({(row.cell, row.seed) for row in rows}) == 8


@pytest.fixture
def patient_ray(monkeypatch):
    """Ray that may take its time: it gives up its own start after 30 seconds, however busy the machine is."""
    ray = pytest.importorskip("ray", reason="Ray is not installed (pip install 'aninfonce[ray]')")
    init = ray.init

    def start(**options):
        while True:
            try:
                return init(**options)
            except Exception as problem:
                if "timed out" not in str(problem).lower():
                    raise
                ray.shutdown()

    monkeypatch.setattr(ray, "init", start)
    monkeypatch.setenv("RAY_gcs_server_port_wait_time_s", "900")
    monkeypatch.setenv("RAY_worker_register_timeout_seconds", "900")


@pytest.mark.process
def test_on_a_local_ray(tmp_path, patient_ray):
    store = ResultStore(tmp_path)
    tasks = plan([toys.study(), toys.of_kinds("dies")], "smoke")
    rows = run_sweep(tasks, store, jobs=2, backend="ray")
    assert {row.cell for row in rows if row.error is None} == {"good", "warns", "also good"}
    assert len(store.rows()) == 6
    assert "Error" in next(row.error for row in rows if row.cell == "dies")


def test_without_ray_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"aninfonce\[ray\]"):
        run_sweep(plan([toys.study()], "smoke"), ResultStore(tmp_path), backend="ray")
