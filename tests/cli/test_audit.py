"""`aninfonce audit` as a user calls it."""

import json

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from aninfonce.cli.app import app
from aninfonce.cli.audit import _on_rows
from aninfonce.diagnostics import audit as run_audit
from aninfonce.training import load_fitted
from tests.diagnostics.cases import clean
from tests.estimator.small import UNFINISHED, make_pairs, quick


def run(*arguments):
    return CliRunner().invoke(app, ["audit", *(str(a) for a in arguments)])


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_encoder.py").write_text(
        "def embed(x):\n    return x[:, :3]\n\naugmentations = {'moved': lambda x: x + 0.5}\n"
    )
    return tmp_path


def test_a_function_and_an_npz_file(module):
    x, x_pos = clean(n=400)
    np.savez(module / "pairs.npz", x=x, x_pos=x_pos, z=x, labels=x[:, 0] > 0)
    result = run("--encoder", "my_encoder:embed", "--data", "pairs.npz", "--out", "out", "--pairs", 300)
    assert result.exit_code == 0, result.output
    assert "! Identifiability" in result.stdout
    assert "wrote out/index.html" in result.stdout
    numbers = json.loads((module / "out" / "audit.json").read_text())
    assert numbers["pairs"] == 300
    assert "classes" in [finding["name"] for finding in numbers["findings"]]


def test_a_table_and_an_exit_code_for_machines(module):
    """The page is written in either case; only the code says whether something asks for attention."""
    x, x_pos = clean(n=400)
    names = [f"{name}_{k}" for name in ("x", "x_pos", "z") for k in range(x.shape[1])]
    rows = np.concatenate([x, x_pos, x], axis=1)
    np.savetxt(module / "pairs.csv", rows, delimiter=",", header=",".join(names), comments="")
    (module / "whole.py").write_text("def embed(x):\n    return x\n")
    for encoder, code in (("whole:embed", 0), ("my_encoder:embed", 1)):
        arguments = ["--encoder", encoder, "--data", "pairs.csv", "--out", encoder.partition(":")[0]]
        assert run(*arguments).exit_code == 0
        result = run(*arguments, "--fail-on-concern")
        assert result.exit_code == code, result.output
        assert ("\n! " in f"\n{result.stdout}") == bool(code)
        assert "index.html" in result.stdout


def test_a_folder_and_augmentations(module):
    (module / "data").mkdir()
    np.save(module / "data" / "x.npy", clean(n=300)[0])
    arguments = ["--encoder", "my_encoder:embed", "--data", "data", "--out", "out"]
    assert run(*arguments).exit_code == 2
    result = run(*arguments, "--augmentations", "my_encoder:augmentations")
    assert result.exit_code == 0, result.output
    assert "accuracy for moved" in result.stdout


@UNFINISHED
def test_a_checkpoint(tmp_path):
    X, X_pos = make_pairs(300)
    np.savez(tmp_path / "pairs.npz", x=X, x_pos=X_pos)
    saved = quick().fit(X, X_pos).save(tmp_path / "ica")
    result = run("--encoder", saved, "--data", tmp_path / "pairs.npz", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "Collapse" in result.stdout
    assert "train with AnInfoNCE" not in result.stdout
    assert "trained with AnInfoNCE" in (tmp_path / "out" / "index.html").read_text()
    # As images, with --flat: the same embedding, and the loss is still known.
    flat = _on_rows(load_fitted(saved))
    report = run_audit(flat, (X.reshape(-1, 1, 1, 3), X_pos.reshape(-1, 1, 1, 3)))
    assert report.loss == "AnInfoNCE"
    assert report.to_dict() == run_audit(load_fitted(saved), (X, X_pos)).to_dict()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--encoder": "nothing"}, "--encoder must be module:function or the path"),
        ({"--encoder": "my_encoder:missing"}, "--encoder must be module:name"),
        ({"--data": "nowhere"}, "--data must be an .npz, .csv or .parquet file, a folder"),
        ({"--data": "empty"}, "must hold an array `x`"),
        ({"--out": "pairs.npz"}, "--out must be a folder, got the file pairs.npz"),
    ],
)
def test_bad_input_is_named(module, changes, message):
    (module / "empty").mkdir()
    np.savez(module / "pairs.npz", x=clean(n=300)[0], x_pos=clean(n=300)[1])
    options = {"--encoder": "my_encoder:embed", "--data": "pairs.npz", "--out": "out", **changes}
    result = run(*(part for option in options.items() for part in option))
    assert result.exit_code == 2
    assert message in result.output


def test_images_by_name_or_folder(tmp_path, monkeypatch, mnist_folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pixels.py").write_text("def embed(x):\n    return x.flatten(1)[:, 100:700:30]\n")
    arguments = ["--encoder", "pixels:embed", "--out", "out", "--pairs", 300]
    monkeypatch.setenv("ANINFONCE_DATA", str(tmp_path))
    missing = run(*arguments, "--data", "mnist")
    assert missing.exit_code == 2
    assert "`aninfonce data get mnist`" in missing.output
    monkeypatch.setenv("ANINFONCE_DATA", str(mnist_folder))
    result = run(*arguments, "--data", "mnist", "--flat")
    assert result.exit_code == 0, result.output
    numbers = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert numbers["pairs"] == 300
    names = [finding["name"] for finding in numbers["findings"]]
    assert {"classes", "readout"} <= set(names)
    assert "accuracy for" in result.stdout


def picture_folder(folder, count=40):
    for number in range(count):
        place = folder / ("a" if number % 2 else "b")
        place.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (12, 10), (6 * number, 3 * number, 90)).save(place / f"{number}.png")


def test_a_damaged_picture_is_named_and_not_passed_over(tmp_path, monkeypatch):
    """Folders may be called like data sets; a damaged test part is no reason to take the training part."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pixels.py").write_text("def embed(x):\n    return x.mean(dim=(2, 3))\n")
    for split in ("train", "test"):
        picture_folder(tmp_path / "mnist" / split)
    (tmp_path / "mnist" / "test" / "a" / "1.png").write_bytes(b"\x89PNG\r\n")
    (tmp_path / "idx").mkdir()
    (tmp_path / "idx" / "t10k-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03")
    (tmp_path / "idx" / "t10k-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01")
    for data, name in (("mnist", "mnist/test/a/1.png"), ("idx", "idx/t10k-images-idx3-ubyte")):
        result = run("--encoder", "pixels:embed", "--data", data, "--out", "out", "--size", 8)
        assert result.exit_code == 2, result.output
        (line,) = result.stderr.splitlines()
        assert line.startswith("error: ")
        assert name in line


def test_a_folder_of_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pixels.py").write_text("def embed(x):\n    return x.mean(dim=(2, 3))\n")
    colours = np.random.default_rng(0).integers(0, 256, (200, 3))
    for row, colour in enumerate(colours):
        folder = tmp_path / "pictures" / ("red" if colour[0] > 127 else "other")
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (12, 10), tuple(int(c) for c in colour)).save(folder / f"{row}.png")
    result = run("--encoder", "pixels:embed", "--data", "pictures", "--out", "out", "--size", 8)
    assert result.exit_code == 0, result.output
    assert "accuracy for" in result.stdout
