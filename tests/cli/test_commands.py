"""The commands as a user calls them, in this process."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
import yaml
from typer.testing import CliRunner

from aninfonce import __version__
from aninfonce.cli.app import app
from aninfonce.sources import as_source
from aninfonce.training import Fitted
from tests.training.small import SMALL


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def write_config(folder, **changes):
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump({**SMALL, **changes}))
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    result = run("train", write_config(folder), "--out", folder / "run", "--accelerator", "cpu")
    assert result.exit_code == 0, result.output
    assert "not folded" in result.stdout or "looks folded" in result.stdout
    return folder / "run"


@pytest.mark.parametrize("command", ["audit", "demo", "train", "evaluate", "embed"])
def test_every_command_has_help_with_examples(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"aninfonce {command} " in result.stdout


def test_version():
    assert run("--version").stdout.strip() == f"aninfonce {__version__}"


def test_evaluate_prints_scores(trained):
    scores = json.loads(run("evaluate", trained, "--pairs", 2048, "--json").stdout)
    assert scores["pairs"] == 2048
    assert 0 < scores["R² content"] <= 1
    assert len(scores["Λ̂"]) == 10
    assert "effective rank" in scores
    assert "R² style" in run("evaluate", trained, "--pairs", 2048).stdout


def test_evaluate_on_arrays_needs_no_latents(trained, tmp_path):
    x = np.random.default_rng(0).normal(size=(1500, 10)).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=x, x_pos=x + 0.1)
    scores = json.loads(run("evaluate", trained, "--data", tmp_path / "data.npz", "--json").stdout)
    assert scores["pairs"] == 1500
    assert "R²" not in scores


def test_pairs_may_be_a_table(trained, tmp_path):
    x = np.random.default_rng(0).normal(size=(1500, 10))
    pairs = np.concatenate([x, x + 0.1], axis=1)
    header = ",".join(f"{name}_{k}" for name in ("x", "x_pos") for k in range(10))
    np.savetxt(tmp_path / "data.csv", pairs, delimiter=",", header=header, comments="", fmt="%.17g")
    np.savez(tmp_path / "data.npz", x=x, x_pos=x + 0.1)
    table, arrays = (
        json.loads(run("evaluate", trained, "--data", tmp_path / name, "--json").stdout)
        for name in ("data.csv", "data.npz")
    )
    assert table.pop("data").endswith("data.csv")
    del arrays["data"]
    assert table == arrays
    missing = run("embed", trained, tmp_path / "data.csv", "-o", tmp_path / "out.npy", "--key", "z")
    assert missing.exit_code == 2
    assert "holds no array 'z', got x, x_pos" in missing.stderr


@pytest.mark.parametrize("name", ["data.npz", "data.npy", "data.csv"])
def test_embed_writes_an_array(trained, tmp_path, name):
    x = np.random.default_rng(0).normal(size=(7, 10))
    write = {"npz": lambda path, x: np.savez(path, x=x), "npy": np.save}
    write.get(name[-3:], lambda path, x: np.savetxt(path, x, delimiter=","))(tmp_path / name, x)
    result = run("embed", trained, tmp_path / name, "-o", tmp_path / "sub" / "out.npy")
    assert result.exit_code == 0, result.output
    embedding = np.load(tmp_path / "sub" / "out.npy")
    assert embedding.shape == (7, 10)
    np.testing.assert_allclose(np.linalg.norm(embedding, axis=1), 1.0, rtol=1e-5)


def test_embed_writes_what_the_ending_says(trained, tmp_path):
    np.save(tmp_path / "data.npy", np.random.default_rng(0).normal(size=(7, 10)))
    for name in ("out.npy", "out.npz", "out.csv", "out.CSV"):
        (tmp_path / name).write_text("old")
        result = run("embed", trained, tmp_path / "data.npy", "-o", tmp_path / name)
        assert result.exit_code == 0, result.output
    expected = np.load(tmp_path / "out.npy")
    with np.load(tmp_path / "out.npz") as stored:
        assert stored.files == ["embedding"]
        np.testing.assert_array_equal(stored["embedding"], expected)
    header, *lines = (tmp_path / "out.csv").read_text().splitlines()
    assert header.split(",") == [f"embedding_{column}" for column in range(10)]
    found = np.array([line.split(",") for line in lines]).astype(np.float32)
    np.testing.assert_array_equal(found, expected)
    assert (tmp_path / "out.CSV").read_bytes() == (tmp_path / "out.csv").read_bytes()
    assert len(list(tmp_path.iterdir())) == 5


@pytest.mark.parametrize("name", ["out", "out.txt", "out.npy.gz", "out.parquet", ".npy"])
def test_embed_refuses_other_endings_first(tmp_path, name):
    """Before the checkpoint or the data are looked at: neither is there."""
    result = run("embed", tmp_path / "no-run", tmp_path / "no-data.npy", "-o", tmp_path / name)
    assert result.exit_code == 2
    assert "--out must end in .npy, .npz or .csv, got" in result.stderr
    assert not list(tmp_path.iterdir())


def broken_arrays(folder):
    """Give files of pairs, each broken in its own way."""
    x = np.random.default_rng(0).normal(size=(300, 10))
    np.savez(folder / "good.npz", x=x, x_pos=x)
    content = (folder / "good.npz").read_bytes()
    (folder / "cut.npz").write_bytes(content[: len(content) // 2])
    flipped = bytearray(content)
    flipped[1000] ^= 1
    (folder / "flipped.npz").write_bytes(flipped)
    np.save(folder / "plain.npy", x)
    (folder / "plain.npy").rename(folder / "renamed.npz")
    np.savez(folder / "objects.npz", x=np.array([{}]), x_pos=np.array([None]))
    np.savez(folder / "fields.npz", x=np.zeros(3, [("a", "f4")]), x_pos=np.zeros(3, [("a", "f4")]))
    np.savez(folder / "texts.npz", x=np.array(["a"]), x_pos=np.array(["b"]))
    np.savez(folder / "huge.npz", x=np.full((300, 10), 1e300), x_pos=x)
    np.savez(folder / "nan.npz", x=np.full((300, 10), np.nan), x_pos=x)
    np.savez(folder / "scalar.npz", x=np.array(3.0), x_pos=np.array(3.0))
    (folder / "empty.npz").write_bytes(b"")
    (folder / "text.npz").write_text("x,x_pos\n1,2\n")
    return [path for path in sorted(folder.glob("*.npz")) if path.name != "good.npz"]


def test_broken_arrays_end_every_command_in_one_line(trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def embed(x):\n    return x[:, :3]\n")
    for path in broken_arrays(tmp_path):
        commands = [
            ("train", write_config(tmp_path, data={"arrays": path.name}), "--accelerator", "cpu"),
            ("evaluate", trained, "--data", path),
            ("embed", trained, path, "-o", "out.npy"),
            ("audit", "--encoder", "mine:embed", "--data", path, "--out", "page"),
        ]
        for arguments in commands:
            result = run(*arguments)
            assert result.exit_code == 2, (arguments, result.output, result.exception)
            (line,) = result.stderr.splitlines()
            assert line.startswith("error: ")
            assert path.name in line
    assert not any((tmp_path / name).exists() for name in ("out.npy", "page"))


def test_arrays_that_are_not_asked_for_do_no_harm(trained, tmp_path):
    x = np.random.default_rng(0).normal(size=(1500, 10))
    np.savez(tmp_path / "a.npz", x=x, x_pos=x, subjects=np.array(["Ada", "Bo"]), more=np.array([{}]))
    assert run("evaluate", trained, "--data", tmp_path / "a.npz", "--json").exit_code == 0
    assert run("embed", trained, tmp_path / "a.npz", "-o", tmp_path / "o.npy").exit_code == 0
    result = run("embed", trained, tmp_path / "a.npz", "-o", tmp_path / "o.npy", "--key", "subjects")
    assert result.exit_code == 2
    assert "array `subjects` of" in result.stderr


def test_an_embedding_that_cannot_be_written_leaves_the_old_one(trained, tmp_path, monkeypatch):
    np.save(tmp_path / "data.npy", np.zeros((7, 10)) + 0.5)
    (tmp_path / "out.npy").write_text("the old one")

    def full(file, array, **_):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    result = run("embed", trained, tmp_path / "data.npy", "-o", tmp_path / "out.npy")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {tmp_path / 'out.npy'}: No space left on device")
    assert (tmp_path / "out.npy").read_text() == "the old one"
    assert len(list(tmp_path.iterdir())) == 2


def test_train_resumes_and_refuses_to_overwrite(trained):
    config = trained.parent / "config.yaml"
    assert "add --resume" in run("train", config, "--out", trained).stderr
    result = run("train", config, "--out", trained, "--resume", "--accelerator", "cpu")
    assert result.exit_code == 0, result.output


def test_train_overwrites_only_if_told(tmp_path):
    quick = {**SMALL["recipe"], "steps": 10, "unfold": None, "close": None, "growth": []}
    config = write_config(tmp_path, recipe=quick, evaluate_every=0)
    options = ("--out", tmp_path / "run", "--accelerator", "cpu")
    assert run("train", config, *options).exit_code == 0
    result = run("train", config, *options, "--steps", 7)
    assert result.exit_code == 2
    assert "already holds a run: add --resume" in result.stderr
    result = run("train", config, *options, "--steps", 7, "--resume")
    assert result.exit_code == 2
    assert "other settings (recipe.steps)" in result.stderr
    assert run("train", config, *options, "--steps", 7, "--overwrite").exit_code == 0
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()] == ["step-00000007"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_device_that_is_not_there_is_one_line_with_the_option(tmp_path):
    result = run("train", write_config(tmp_path), "--out", tmp_path / "run", "--accelerator", "cuda")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: this machine cannot train with --accelerator cuda")
    assert len(result.stderr.strip().splitlines()) == 1


_LIMITED = """
import resource
# Room for the log, but not for all tensors of a checkpoint.
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
from aninfonce.cli import main
main()
"""


def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path):
    quick = {**SMALL["recipe"], "steps": 30, "unfold": None, "close": None, "growth": []}
    config = write_config(tmp_path, recipe=quick, evaluate_every=0)
    arguments = ["train", config, "--out", tmp_path / "run", "--accelerator", "cpu"]
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    message = done.stderr.strip().splitlines()[-1]
    assert message.startswith(f"error: {tmp_path / 'run' / 'checkpoints' / 'step-00000010'}: File too large")
    assert "make room and try again" in message
    assert "Traceback" not in done.stderr
    assert list((tmp_path / "run" / "checkpoints").iterdir()) == []
    result = run(*arguments, "--resume")
    assert result.exit_code == 0, result.output


def test_train_on_arrays_beside_the_file(tmp_path):
    x = np.random.default_rng(0).normal(size=(400, 4)).astype(np.float32)
    np.savez(tmp_path / "pairs.npz", x=x, x_pos=x + 0.1, z=x)
    recipe = {"steps": 5, "batch_size": 16, "growth": [], "unfold": None, "close": None}
    changes = {"data": {"arrays": "pairs.npz"}, "dim": 4, "recipe": recipe, "evaluation_pairs": 256}
    result = run(
        "train", write_config(tmp_path, **changes), "--out", tmp_path / "run", "--steps", 7, "--seed", 2
    )
    assert result.exit_code == 0, result.output
    written = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (written["seed"], written["recipe"]["steps"]) == (2, 7)


def save_pairs(path, seed, rows=400):
    x = np.random.default_rng(seed).normal(size=(rows, 4)).astype(np.float32)
    np.savez(path, x=x, x_pos=x + 0.1, z=x)
    return x


@pytest.fixture
def on_arrays(tmp_path):
    """A run on arrays that lie beside its file of settings."""
    x = save_pairs(tmp_path / "pairs.npz", seed=0)
    recipe = {"steps": 5, "batch_size": 16, "growth": [], "unfold": None, "close": None}
    changes = {"data": {"arrays": "pairs.npz"}, "dim": 4, "recipe": recipe, "evaluation_pairs": 256}
    result = run("train", write_config(tmp_path, **changes), "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert "held_out_loss" in result.stdout
    return tmp_path, x


def evaluated(*arguments):
    result = run("evaluate", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_evaluate_scores_the_rows_that_were_held_out(on_arrays, monkeypatch):
    folder, x = on_arrays
    scored = []
    embed = Fitted.embed
    monkeypatch.setattr(Fitted, "embed", lambda fitted, rows: scored.append(rows) or embed(fitted, rows))
    scores = evaluated(folder / "run")
    assert (scores["pairs"], scores["data"]) == (40, "held out from training")
    source = as_source((x, x + 0.1), seed=SMALL["seed"])
    source.set_aside(0.1, 256, 16)
    trained_on = set(source.fresh(400).x[:, 0].tolist())
    assert len(trained_on) == 360
    assert trained_on.isdisjoint(scored[0][:, 0].tolist())
    # The same file by name, or a copy of it, is not taken for data that the run has not seen.
    shutil.copy(folder / "pairs.npz", folder / "copy.npz")
    assert evaluated(folder / "run", "--data", folder / "copy.npz") == scores


def test_evaluate_finds_the_arrays_of_the_run_from_anywhere(on_arrays, monkeypatch):
    folder, _ = on_arrays
    expected = evaluated(folder / "run")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    # Another file of the same name is not the run's.
    save_pairs(elsewhere / "pairs.npz", seed=1)
    monkeypatch.chdir(elsewhere)
    assert evaluated("../run") == expected
    other = evaluated("../run", "--data", "pairs.npz")
    assert (other["pairs"], other["data"]) == (400, "pairs.npz")
    assert other["alignment"] != expected["alignment"]


def test_arrays_that_changed_are_not_the_runs(on_arrays):
    folder, _ = on_arrays
    save_pairs(folder / "pairs.npz", seed=1)
    result = run("evaluate", folder / "run")
    assert result.exit_code == 2
    assert "pairs.npz has changed" in result.stderr
    result = run("train", folder / "config.yaml", "--out", folder / "run", "--resume")
    assert result.exit_code == 2
    assert "other settings (data.sha256)" in result.stderr
    (folder / "pairs.npz").unlink()
    assert "does not exist" in run("evaluate", folder / "run").stderr


def test_a_run_and_its_data_can_be_moved_together(on_arrays):
    folder, _ = on_arrays
    moved = folder / "moved"
    moved.mkdir()
    for name in ("config.yaml", "pairs.npz", "run"):
        shutil.move(folder / name, moved / name)
    result = run("train", moved / "config.yaml", "--out", moved / "run", "--resume")
    assert result.exit_code == 0, result.output


def test_evaluate_says_if_nothing_was_held_out(tmp_path):
    save_pairs(tmp_path / "pairs.npz", seed=0)
    recipe = {"steps": 2, "batch_size": 16, "growth": [], "unfold": None, "close": None}
    changes = {"data": {"arrays": "pairs.npz"}, "dim": 4, "recipe": recipe, "held_out": 0}
    result = run("train", write_config(tmp_path, **changes), "--out", tmp_path / "run")
    assert "training_pairs_loss" in result.stdout
    scores = evaluated(tmp_path / "run")
    assert (scores["pairs"], scores["data"]) == (400, "trained on: the run held nothing out")


def test_bad_input_is_one_clear_line(trained, tmp_path):
    (tmp_path / "bad.yaml").write_text("recipe: {stpes: 3}")
    (tmp_path / "nodata.yaml").write_text("seed: 3")
    (tmp_path / "unknown.yaml").write_text("data: {process: fig2/26}")
    (tmp_path / "option.yaml").write_text("data: {process: fig2/25, options: {mixing: none}}")
    (tmp_path / "text.npz").write_text("no array")
    np.savez(tmp_path / "y.npz", y=np.zeros((3, 10)))
    np.savez(tmp_path / "wide.npz", x=np.zeros((3, 11)))
    cases = [
        (("train", tmp_path / "none.yaml"), "cannot read"),
        (("train", tmp_path / "bad.yaml"), "`recipe.stpes` is not a known setting"),
        (("train", tmp_path / "nodata.yaml"), "`data` is missing"),
        (("train", tmp_path / "unknown.yaml", "--out", tmp_path / "r"), "did you mean 'fig2/25'"),
        (("train", tmp_path / "option.yaml"), "`data.options` of fig2/25: `mixing`: Input should be"),
        (("evaluate", tmp_path), "holds no checkpoint"),
        (("embed", trained, tmp_path / "none.npz", "-o", tmp_path / "o.npy"), "does not exist"),
        (
            ("embed", trained, tmp_path / "text.npz", "-o", tmp_path / "o.npy"),
            "cannot be read as numeric arrays",
        ),
        (("embed", trained, tmp_path / "y.npz", "-o", tmp_path / "o.npy"), "holds no array 'x', got y"),
        (("embed", trained, tmp_path / "wide.npz", "-o", tmp_path / "o.npy"), "(3, 11)"),
    ]
    for arguments, message in cases:
        result = run(*arguments)
        assert result.exit_code == 2, (arguments, result.output)
        assert result.stderr.startswith("error: "), arguments
        assert message in result.stderr, (arguments, result.stderr)
        assert "Traceback" not in result.output


def test_too_little_memory_is_told_in_a_line(tmp_path):
    path = tmp_path / "pairs.npz"
    x = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    np.savez(path, x=x, x_pos=x)
    recipe = {"steps": 2, "batch_size": 64, "growth": []}
    config = write_config(tmp_path, data={"arrays": "pairs.npz"}, dim=10**12, recipe=recipe)
    found = run("train", config, "--out", tmp_path / "run", "--accelerator", "cpu")
    assert found.exit_code == 1
    assert "error: there is not enough memory" in found.output
