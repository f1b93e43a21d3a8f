"""The commands as a user calls them, in this process."""

import json

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from aninfonce import __version__
from aninfonce.cli.app import app
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


@pytest.mark.parametrize("name", ["data.npz", "data.npy"])
def test_embed_writes_an_array(trained, tmp_path, name):
    x = np.random.default_rng(0).normal(size=(7, 10))
    np.savez(tmp_path / name, x=x) if name.endswith("z") else np.save(tmp_path / name, x)
    result = run("embed", trained, tmp_path / name, "-o", tmp_path / "sub" / "out.npy")
    assert result.exit_code == 0, result.output
    embedding = np.load(tmp_path / "sub" / "out.npy")
    assert embedding.shape == (7, 10)
    np.testing.assert_allclose(np.linalg.norm(embedding, axis=1), 1.0, rtol=1e-5)


def test_train_resumes_and_refuses_to_overwrite(trained):
    config = trained.parent / "config.yaml"
    assert "add --resume" in run("train", config, "--out", trained).stderr
    result = run("train", config, "--out", trained, "--resume", "--accelerator", "cpu")
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


def test_bad_input_is_one_clear_line(trained, tmp_path):
    (tmp_path / "bad.yaml").write_text("recipe: {stpes: 3}")
    (tmp_path / "nodata.yaml").write_text("seed: 3")
    (tmp_path / "unknown.yaml").write_text("data: {process: fig2/26}")
    (tmp_path / "text.npz").write_text("no array")
    np.savez(tmp_path / "y.npz", y=np.zeros((3, 10)))
    np.savez(tmp_path / "wide.npz", x=np.zeros((3, 11)))
    cases = [
        (("train", tmp_path / "none.yaml"), "cannot read"),
        (("train", tmp_path / "bad.yaml"), "`recipe.stpes` is not a known setting"),
        (("train", tmp_path / "nodata.yaml"), "`data` is missing"),
        (("train", tmp_path / "unknown.yaml", "--out", tmp_path / "r"), "did you mean 'fig2/25'"),
        (("evaluate", tmp_path), "holds no checkpoint"),
        (("embed", trained, tmp_path / "none.npz", "-o", tmp_path / "o"), "does not exist"),
        (("embed", trained, tmp_path / "text.npz", "-o", tmp_path / "o"), "cannot be read as numeric arrays"),
        (("embed", trained, tmp_path / "y.npz", "-o", tmp_path / "o"), "holds no array 'x', got y"),
        (("embed", trained, tmp_path / "wide.npz", "-o", tmp_path / "o"), "(3, 11)"),
    ]
    for arguments, message in cases:
        result = run(*arguments)
        assert result.exit_code == 2, (arguments, result.output)
        assert result.stderr.startswith("error: "), arguments
        assert message in result.stderr, (arguments, result.stderr)
        assert "Traceback" not in result.output
