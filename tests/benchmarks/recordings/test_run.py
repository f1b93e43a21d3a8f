"""Which cells there are, what one of them gives, and the command."""

import json

import pytest
from benchmarks.recordings.run import cells, main, run_cell

from benchmarks.recordings import run as module


def fake(world, method, seed):
    return {"world": world, "method": method, "seed": seed, "r2": 0.5, "seconds": 60.0}


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
