"""The runner goes on where it stopped, and one cell that fails does not stop the others."""

import pytest
from benchmarks.rows import (
    add_sweep_options,
    carry_out,
    command,
    complete,
    missing,
    read_rows,
    seconds_left,
    spread,
    write_rows,
)

NAMES = ("world", "method", "seed")


def fake(world, method, seed):
    return {"world": world, "method": method, "seed": seed, "r2": 0.5, "seconds": 60.0}


def broken(world, method, seed):
    if seed == 1:
        raise RuntimeError("no luck")
    return fake(world, method, seed)


def test_a_second_call_runs_only_what_is_missing(tmp_path):
    path = tmp_path / "rows.jsonl"
    wanted = [("ar5", "PCA", seed) for seed in range(3)]
    assert complete(wanted[:2], fake, path, NAMES) == []
    before = path.read_text()
    todo = missing(wanted, read_rows(path), NAMES)
    assert todo == wanted[2:]
    complete(todo, fake, path, NAMES)
    assert path.read_text().startswith(before)
    assert [row["seed"] for row in read_rows(path)] == [0, 1, 2]
    assert missing(wanted, read_rows(path), NAMES) == []


def test_a_cell_that_fails_leaves_no_row_and_the_others_run(tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    wanted = [("ar5", "PCA", seed) for seed in range(3)]
    assert complete(wanted, broken, path, NAMES) == [("ar5", "PCA", 1)]
    assert [row["seed"] for row in read_rows(path)] == [0, 2]
    assert "no luck" in capsys.readouterr().out


def test_a_line_cut_short_is_run_again(tmp_path):
    path = tmp_path / "rows.jsonl"
    complete([("ar5", "PCA", 0)], fake, path, NAMES)
    with path.open("a") as file:
        file.write('{"world": "ar5", "met')
    assert missing([("ar5", "PCA", 0), ("ar5", "PCA", 1)], read_rows(path), NAMES) == [("ar5", "PCA", 1)]
    complete([("ar5", "PCA", 1)], fake, path, NAMES)
    assert len(read_rows(path)) == 2


def test_time_left_is_guessed_from_rows_of_the_same_method():
    rows = [fake("ar5", "PCA", 0)]
    assert seconds_left([("ar5", "PCA", 1), ("ar10", "PCA", 0)], rows, NAMES) == 120.0
    assert seconds_left([("ar5", "SOBI", 0)], rows, NAMES) is None


def test_time_left_is_guessed_from_what_rows_have():
    rows = [
        {"setting": "5-25", "seed": 0, "seconds": 60.0},
        {"setting": "d20-75", "seed": 0, "seconds": 180.0},
    ]
    assert seconds_left([("5-25", 1)], rows, ("setting", "seed"), jobs=2) == 30.0
    # Nothing is known of this one but that it is a setting.
    assert seconds_left([("5-50", 0)], rows, ("setting", "seed")) == 120.0
    assert seconds_left([(7,)], [{"seed": 1, "cpu_seconds": 5.0}], ("seed",)) == 5.0
    assert seconds_left([(7,)], [{"seed": 1}], ("seed",)) is None


def test_cells_may_hold_settings():
    rows = [{"method": "a", "settings": {"gamma": 1.0}}]
    wanted = [("a", {"gamma": 1.0}), ("a", {"gamma": 10.0})]
    assert missing(wanted, rows, ("method", "settings")) == wanted[1:]


@pytest.mark.process
@pytest.mark.parametrize("fresh", [False, True])
def test_cells_run_in_processes_of_their_own(tmp_path, fresh):
    cells = [((("seed", seed), ("seconds", 1.0)),) for seed in range(3)]
    assert complete(cells, dict, tmp_path / "rows.jsonl", ("seed",), jobs=2, fresh=fresh) == []
    assert sorted(row["seed"] for row in read_rows(tmp_path / "rows.jsonl")) == [0, 1, 2]


def test_the_options_of_a_sweep(tmp_path, capsys):
    parser = command("What it does.")
    add_sweep_options(parser, tmp_path / "rows.jsonl", flag="--out")
    wanted = [("ar5", "PCA", seed) for seed in range(2)]
    assert carry_out(parser.parse_args(["--dry-run"]), wanted, fake, NAMES) == 0
    assert capsys.readouterr().out == "ar5 PCA 0\nar5 PCA 1\n2 of 2 are missing\n"
    assert carry_out(parser.parse_args([]), wanted, broken, NAMES) == 1
    assert [row["seed"] for row in read_rows(tmp_path / "rows.jsonl")] == [0]
    assert "[2/2" not in capsys.readouterr().out


def test_rows_that_are_written_are_read(tmp_path):
    rows = [{"Λ": [1.0, 2.0]}, {"Λ": None}]
    write_rows(tmp_path / "rows.jsonl", rows)
    assert read_rows(tmp_path / "rows.jsonl") == rows


def test_spread_is_the_median_and_the_worst():
    rows = [{"r2": value} for value in (0.9, 0.8, 0.7, None)]
    assert spread(rows, "r2", "{:.1f}", min) == "0.8 (0.7)"
    assert spread(rows, "r2", "{:.1f}", None) == "0.8"
    assert spread(rows, "mcc", "{:.1f}", min) == "–"
