"""The runner goes on where it stopped, and one cell that fails does not stop the others."""

import json

import pytest
from benchmarks.recordings.run import cells, complete, main, missing, read_rows, run_cell, seconds_left

from benchmarks.recordings import run as module


def fake(world, method, seed):
    return {"world": world, "method": method, "seed": seed, "r2": 0.5, "seconds": 60.0}


def broken(world, method, seed):
    if seed == 1:
        raise RuntimeError("no luck")
    return fake(world, method, seed)


def test_a_second_call_runs_only_what_is_missing(tmp_path):
    path = tmp_path / "rows.jsonl"
    wanted = [("ar5", "PCA", seed) for seed in range(3)]
    assert complete(wanted[:2], fake, path) == []
    before = path.read_text()
    todo = missing(wanted, read_rows(path))
    assert todo == wanted[2:]
    complete(todo, fake, path)
    assert path.read_text().startswith(before)
    assert [row["seed"] for row in read_rows(path)] == [0, 1, 2]
    assert missing(wanted, read_rows(path)) == []


def test_a_cell_that_fails_leaves_no_row_and_the_others_run(tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    wanted = [("ar5", "PCA", seed) for seed in range(3)]
    assert complete(wanted, broken, path) == [("ar5", "PCA", 1)]
    assert [row["seed"] for row in read_rows(path)] == [0, 2]
    assert "no luck" in capsys.readouterr().out


def test_a_line_cut_short_is_run_again(tmp_path):
    path = tmp_path / "rows.jsonl"
    complete([("ar5", "PCA", 0)], fake, path)
    with path.open("a") as file:
        file.write('{"world": "ar5", "met')
    assert missing([("ar5", "PCA", 0), ("ar5", "PCA", 1)], read_rows(path)) == [("ar5", "PCA", 1)]
    complete([("ar5", "PCA", 1)], fake, path)
    assert len(read_rows(path)) == 2


def test_time_left_is_guessed_from_rows_of_the_same_method():
    rows = [fake("ar5", "PCA", 0)]
    assert seconds_left([("ar5", "PCA", 1), ("ar10", "PCA", 0)], rows) == 120.0
    assert seconds_left([("ar5", "SOBI", 0)], rows) is None


def test_peers_that_need_time_are_left_out_of_pairs():
    found = cells(["ar5", "pairs-gauss"], ["PCA", "SOBI"], 1, lambda name: name.startswith("pairs"))
    assert found == [("ar5", "PCA", 0), ("ar5", "SOBI", 0), ("pairs-gauss", "PCA", 0)]


@pytest.mark.parametrize("world", ["ar5-6000-rows", "pairs-gauss"])
def test_a_cell_has_its_scores(world):
    row = run_cell(world, "AMUSE", 0)
    assert 0.5 < row["r2"] < 1
    assert 0.5 < row["mcc"] < 1
    assert row["cpu_seconds"] >= 0
    assert run_cell(world, "AMUSE", 0)["r2"] == row["r2"]
    assert json.loads(json.dumps(row)) == row


def test_the_command_runs_lists_and_shows(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(module, "run_cell", fake)
    path = tmp_path / "rows.jsonl"
    chosen = ["--worlds", "ar5", "--methods", "PCA", "--results", str(path)]
    assert main([*chosen, "--seeds", "2"]) == 0
    assert main([*chosen, "--seeds", "3", "--dry-run"]) == 0
    assert "ar5 PCA 2\n1 of 3 are missing, about 1 min" in capsys.readouterr().out
    assert main([*chosen, "--show"]) == 0
    assert "| PCA | 2 | 0.500 (0.500) |" in capsys.readouterr().out
