"""The commands `list` and `run`."""

from typer.testing import CliRunner

from aninfonce.cli.app import app
from aninfonce_papers.engine import ResultStore

runner = CliRunner()


def test_list():
    told = runner.invoke(app, ["list"])
    assert told.exit_code == 0
    assert "fig10" in told.output
    assert "optimum 50" in runner.invoke(app, ["list", "fig10"]).output
    assert runner.invoke(app, ["list", "fig99"]).exit_code == 2
    night = runner.invoke(app, ["list", "--preset", "overnight"]).output
    assert "–" in next(line for line in night.splitlines() if line.startswith("fig10"))
    assert "hard negatives" in runner.invoke(app, ["list", "table4", "--preset", "overnight"]).output
    assert runner.invoke(app, ["list", "fig10", "--preset", "overnight"]).exit_code == 2


def test_dry_run_counts_times_and_writes_nothing(tmp_path):
    arguments = ["run", "exactness", "--seeds", "3", "--only", "exact*", "--out", str(tmp_path / "new")]
    told = runner.invoke(app, [*arguments, "--dry-run"])
    assert told.exit_code == 0, told.output
    assert told.output.count("exactness · exact, forward") == 3
    assert "12 of 12 to run" in told.output
    assert "min" in told.output.splitlines()[-1]
    assert not (tmp_path / "new").exists()


def test_all_are_those_that_have_the_size(tmp_path):
    told = runner.invoke(app, ["run", "all", "--preset", "overnight", "--dry-run", "--out", str(tmp_path)])
    assert told.exit_code == 0, told.output
    assert {line.split(" · ")[0] for line in told.output.splitlines()[:-1]} == {
        "table4",
        "causal3dident",
        "cifar10",
        "fashion-mnist",
    }


def test_run_then_dry_run(tmp_path):
    arguments = ["run", "fig5", "--preset", "smoke", "--jobs", "1", "--out", str(tmp_path)]
    told = runner.invoke(app, [*arguments, "--only", "small*"])
    assert told.exit_code == 0, told.output
    assert "1 finished, 0 failed, 0 already there" in told.output
    assert [row.cell for row in ResultStore(tmp_path).rows()] == ["small Λ"]
    assert "1 of 2 to run" in runner.invoke(app, [*arguments, "--dry-run"]).output
    assert runner.invoke(app, [*arguments, "--set", "score.sample=3"]).exit_code == 2


def test_a_failed_cell_shows_in_the_exit_code(tmp_path):
    arguments = ["run", "fig5", "--preset", "smoke", "--jobs", "1", "--out", str(tmp_path)]
    told = runner.invoke(app, [*arguments, "--set", "score.samples=0"])
    assert told.exit_code == 1
    assert "0 finished, 2 failed" in told.output
    assert all(row.error for row in ResultStore(tmp_path).rows())
