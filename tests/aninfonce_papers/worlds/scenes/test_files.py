"""What is written is what the loader reads; stopped drawing goes on; nothing is mixed up."""

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from aninfonce.cli.app import app
from aninfonce.datasets import DatasetError
from aninfonce_papers.worlds.scenes import SHAPES, bank, drawn, read_scenes, write_scenes, writing

SIZE = 24


@pytest.mark.parametrize(
    ("kind", "n", "names"), [("threedident", 12, "train/images"), ("causal3dident", 77, "trainset/images_3")]
)
def test_round_trip(renderer, tmp_path, kind, n, names):
    seen = []
    write_scenes(kind, tmp_path, n, size=SIZE, test=7, report=lambda *progress: seen.append(progress))
    assert seen[-1] == (n + 7, n + 7)
    # Eleven or twelve pictures of a kind have names of two digits.
    assert (tmp_path / names / "00.png").exists()
    scenes = read_scenes(tmp_path, size=SIZE)
    assert (scenes.kind, len(scenes), scenes.images.shape) == (kind, n, (n, 3, SIZE, SIZE))
    assert len(read_scenes(tmp_path, "test", size=SIZE)) == 7
    rows = np.array([n - 1, 0, 7])
    shapes = SHAPES if kind == "causal3dident" else SHAPES[:1]
    assert set(scenes.classes) == set(range(len(shapes)))
    wanted = drawn(
        scenes.latents[rows], SIZE, classes=scenes.classes[rows], shapes=shapes, folder=tmp_path / "cache"
    )
    assert np.array_equal(scenes.images[rows], wanted)


def test_a_stopped_call_goes_on(renderer, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "_CHUNK", 4)

    def stop(done, total):
        if done >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_scenes("threedident", tmp_path, 12, size=SIZE, report=stop)
    images = tmp_path / "train/images"
    first = {file.name: file.stat().st_mtime_ns for file in images.iterdir()}
    assert len(first) == 8
    (images / "03.png").unlink()
    write_scenes("threedident", tmp_path, 12, size=SIZE)
    again = {file.name: file.stat().st_mtime_ns for file in images.iterdir()}
    assert len(again) == 12
    assert all(again[name] == time for name, time in first.items() if name != "03.png")
    write_scenes("threedident", tmp_path / "whole", 12, size=SIZE)
    whole = read_scenes(tmp_path / "whole", size=SIZE)
    assert np.array_equal(read_scenes(tmp_path, size=SIZE).images[:], whole.images[:])
    with pytest.raises(ValueError, match="got one with size 24"):
        write_scenes("threedident", tmp_path, 12, size=SIZE + 8)


def test_names_without_zeros_are_read_too(tmp_path):
    for c in range(7):
        folder = tmp_path / f"testset/images_{c}"
        folder.mkdir(parents=True)
        np.save(tmp_path / f"testset/raw_latents_{c}.npy", np.full((11, 10), c / 10))
        for row in range(11):
            Image.new("RGBA", (30, 30), (c, row, 0, 255)).save(folder / f"{row}.png")
    scenes = read_scenes(tmp_path, "test", size=30)
    assert scenes.images[np.array([10, 11, 76])][:, :2, 0, 0].tolist() == [[0, 10], [1, 0], [6, 10]]
    assert scenes.latents[:, 0].tolist() == np.repeat(np.arange(7) / 10, 11).tolist()


def test_damage_is_named(tmp_path):
    with pytest.raises(DatasetError, match=r"raw_latents\.npy or .*raw_latents_0\.npy"):
        read_scenes(tmp_path)
    (tmp_path / "train/images").mkdir(parents=True)
    np.save(tmp_path / "train/raw_latents.npy", np.zeros((3, 10)))
    with pytest.raises(DatasetError, match=r"must hold 3 pictures.*0\.png is missing"):
        read_scenes(tmp_path)
    np.save(tmp_path / "train/raw_latents.npy", np.zeros((3, 9)))
    with pytest.raises(DatasetError, match=r"\(N, 10\), got shape \(3, 9\)"):
        read_scenes(tmp_path)
    for values, message in (
        (np.full((3, 10), np.nan), "finite latents"),
        (np.full((3, 10), "a"), "must hold real numbers"),
    ):
        np.save(tmp_path / "train/raw_latents.npy", values)
        with pytest.raises(DatasetError, match=rf"raw_latents\.npy .*{message}"):
            read_scenes(tmp_path)
    (tmp_path / "train/raw_latents.npy").write_bytes(b"\x93NUMPY\x01\x00\xff\x00" + bytes(99))
    with pytest.raises(DatasetError, match=r"raw_latents\.npy has a damaged header"):
        read_scenes(tmp_path)


@pytest.mark.parametrize("text", ["{", "[1]", "3", "[" * 100_000])
def test_a_damaged_description_is_named(tmp_path, text):
    (tmp_path / "about.json").write_text(text)
    with pytest.raises(DatasetError, match=r"about\.json cannot be read as the description of a data set"):
        write_scenes("threedident", tmp_path, 3, size=SIZE)


def test_the_cache_draws_once_and_goes_on(renderer, tmp_path, monkeypatch):
    monkeypatch.setattr(bank, "_CHUNK", 2)
    latents = np.random.default_rng(0).uniform(-1, 1, (5, 10))

    def stop(done, total):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        drawn(latents, SIZE, folder=tmp_path, report=stop)
    seen = []
    pictures = drawn(latents, SIZE, folder=tmp_path, report=lambda *progress: seen.append(progress))
    assert seen == [(5, 5)]
    assert np.array_equal(pictures, drawn(latents, SIZE, folder=tmp_path / "other"))
    drawn(latents, SIZE, folder=tmp_path, report=lambda *progress: pytest.fail("drawn again"))
    assert len(list((tmp_path / "scenes").glob("*.npy"))) == 1
    drawn(latents + 1e-9 * (latents < 0), SIZE, folder=tmp_path)
    assert len(list((tmp_path / "scenes").glob("*.npy"))) == 2


def test_damage_in_the_cache_is_mended_or_named(renderer, tmp_path, monkeypatch):
    monkeypatch.setattr(bank, "_CHUNK", 2)
    latents = np.random.default_rng(0).uniform(-1, 1, (5, 10))

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        drawn(latents, SIZE, folder=tmp_path, report=stop)
    (count,) = (tmp_path / "scenes").glob("*.count")
    count.write_text("")
    assert len(drawn(latents, SIZE, folder=tmp_path)) == 5
    (file,) = (tmp_path / "scenes").glob("*.npy")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(DatasetError, match=f"{file.name} is cut short or damaged"):
        drawn(latents, SIZE, folder=tmp_path)
    np.save(file, np.zeros((5, 3, SIZE, SIZE - 1), np.uint8))
    with pytest.raises(DatasetError, match=f"{file.name} is damaged: remove it"):
        drawn(latents, SIZE, folder=tmp_path)


def test_command(renderer, tmp_path):
    runner = CliRunner()
    arguments = ["data", "render", "threedident", "--n", "3", "--size", "16", "--out", str(tmp_path / "s")]
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert len(read_scenes(tmp_path / "s", size=16)) == 3
    sheet = tmp_path / "sheet.png"
    result = runner.invoke(app, ["data", "render", "threedident", "--sheet", str(sheet)])
    assert result.exit_code == 0, result.output
    assert sheet.stat().st_size < 150_000
    assert runner.invoke(app, ["data", "render", "teapots", "--out", str(tmp_path)]).exit_code == 2
    assert runner.invoke(app, ["data", "render", "threedident"]).exit_code == 2
