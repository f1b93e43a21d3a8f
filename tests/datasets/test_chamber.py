"""Experiments of the Causal Chambers: small files in their layout, as a folder and packed."""

import csv
import hashlib
import json
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from typer.testing import CliRunner

from aninfonce.cli.app import app
from aninfonce.datasets import (
    TUNNEL_FACTORS,
    TUNNEL_READINGS,
    DatasetError,
    chamber,
    convert_chamber,
    experiment_names,
    fetch_tunnel,
)

Image = pytest.importorskip("PIL.Image", reason="pictures need Pillow")
ROWS = 6


def write_experiment(folder, name, *, side=8, without=(), picture="{}.png"):
    """Write a table with some of the columns that theirs have, and small pictures."""
    rng = np.random.default_rng(len(name))
    pictures = folder / name / "images_64"
    pictures.mkdir(parents=True)
    pixels = rng.integers(0, 256, size=(ROWS, side, side, 3), dtype=np.uint8)
    columns = [
        column
        for column in ("timestamp", "config", *TUNNEL_FACTORS, *TUNNEL_READINGS, "image_file")
        if column not in without
    ]
    with (folder / name / f"{name}.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, columns)
        table.writeheader()
        for row in range(ROWS):
            # Not in the order of the files' names.
            file_name = picture.format(ROWS - row)
            values = {column: f"{10 * row + place}.5" for place, column in enumerate(columns)}
            table.writerow({**values, "config": "camera", "image_file": file_name})
            Image.fromarray(pixels[row]).save(pictures / f"{ROWS - row}.png")
    return pixels


@pytest.fixture
def benchmark(tmp_path):
    folder = tmp_path / "lt_crl_benchmark_v1"
    pixels = {name: write_experiment(folder, name) for name in ("citris_1", "uniform")}
    return folder, pixels


def packed(folder, readme=True):
    archive = folder.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w") as file:
        if readme:
            file.writestr("lt_crl_benchmark_v1/README.md", "about")
        for path in sorted(folder.rglob("*")):
            file.write(path, path.relative_to(folder.parent))
    return archive


@pytest.mark.parametrize("as_archive", [False, True])
def test_an_experiment_becomes_arrays(benchmark, tmp_path, as_archive):
    folder, pixels = benchmark
    path = packed(folder) if as_archive else folder
    assert experiment_names(path) == ["citris_1", "uniform"]
    made = convert_chamber(path, "uniform", tmp_path / "made" / "tunnel")
    x, z, readings = (np.load(made / f"{name}.npy") for name in ("x", "z", "readings"))
    np.testing.assert_array_equal(x, pixels["uniform"].transpose(0, 3, 1, 2))
    assert z.shape == (ROWS, len(TUNNEL_FACTORS))
    assert readings.shape == (ROWS, len(TUNNEL_READINGS))
    # Columns are found by their names: red is the third of the table.
    assert z[:, 0].tolist() == [10 * row + 2.5 for row in range(ROWS)]
    about = json.loads((made / "about.json").read_text())
    assert about["z"] == list(TUNNEL_FACTORS)
    # Nothing is left of what was unpacked.
    assert [path.name for path in made.parent.iterdir()] == ["tunnel"]


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"experiment": "citris_2"}, ValueError, "citris_1, uniform"),
        ({"size": "full"}, ValueError, "`size` must be one of 64"),
        ({"to": "."}, ValueError, "`to`"),
    ],
)
def test_what_is_not_there_is_told(benchmark, tmp_path, changes, error, words):
    given = {"path": benchmark[0], "experiment": "uniform", "to": tmp_path / "made", **changes}
    with pytest.raises(error, match=words):
        convert_chamber(**given)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"without": ("pol_2", "ir_3")}, "must have the columns pol_2, ir_3"),
        ({"picture": "../{}.png"}, "by their files"),
        ({"picture": "other_{}.png"}, "does not exist"),
    ],
)
def test_bad_tables_are_refused_by_name(tmp_path, made, words):
    write_experiment(tmp_path / "bad", "uniform", **made)
    with pytest.raises(DatasetError, match=words):
        convert_chamber(tmp_path / "bad", "uniform", tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_damaged_archives_are_told(tmp_path):
    (tmp_path / "cut.zip").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(DatasetError, match=r"cut\.zip"):
        experiment_names(tmp_path / "cut.zip")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_it_is_fetched_once_and_checked(benchmark, tmp_path, monkeypatch):
    archive = packed(benchmark[0])
    monkeypatch.setenv("ANINFONCE_DATA", str(tmp_path / "cache"))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(chamber, "ADDRESS", f"http://127.0.0.1:{server.server_port}/{archive.name}")
        # Theirs is another file: what arrives here must not pass for it.
        with pytest.raises(DatasetError, match="its md5 must be 8ec492afffd0142abd70b1fa7082b104"):
            fetch_tunnel()
        assert not list((tmp_path / "cache").rglob("*.zip"))
        monkeypatch.setattr(chamber, "MD5", hashlib.md5(archive.read_bytes()).hexdigest())
        result = CliRunner().invoke(app, ["data", "get", "light-tunnel"])
        assert result.exit_code == 0, result.output
        server.shutdown()
    found = fetch_tunnel()  # with no server
    assert str(found) in result.output.replace("\n", "")
    assert found.read_bytes() == archive.read_bytes()
    assert "light-tunnel" in CliRunner().invoke(app, ["data", "list"]).output


def test_the_command(benchmark, tmp_path):
    run = CliRunner()
    arguments = ["data", "convert", "light-tunnel", str(benchmark[0]), "--out", str(tmp_path / "made")]
    wrong = run.invoke(app, [*arguments, "--experiment", "uniforms"])
    assert wrong.exit_code == 2
    assert "citris_1, uniform" in wrong.output
    made = run.invoke(app, arguments)
    assert made.exit_code == 0, made.output
    assert (tmp_path / "made" / "x.npy").exists()
