"""Studies on scenes: published values as printed, compared on the released files only."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from aninfonce_papers.engine import find_study, plan
from aninfonce_papers.engine.execute import execute
from aninfonce_papers.rusak2025 import causal3dident
from aninfonce_papers.worlds.scenes import FreshScenes, can_render, scene_process, write_scenes
from aninfonce_papers.zimmermann2021 import scenes, wide_start

TINY = {
    "pairs.size": 16,
    "pairs.test_images": 20,
    "recipe.steps": 2,
    "recipe.warmup": 0,
    "recipe.batch_size": 8,
}


def test_table4_as_printed():
    cells = find_study("table4").experiments("paper")
    r2 = "96.73 96.43 96.87 65.74 45.51 5.25 98.67"
    mcc = "98.31 54.94 98.38 42.44 46.34 99.33"
    spread = ".10 .03 .08 .01 1.43 1.20 .03"
    assert [cell.published["R² [%]"].value for cell in cells] == [float(v) for v in r2.split()]
    assert [cell.published["R² [%]"].spread for cell in cells] == [float(v) for v in spread.split()]
    found = [cell.published["MCC [%]"].value for cell in cells if "MCC [%]" in cell.published]
    assert found == [float(v) for v in mcc.split()]
    assert all((cell.pairs.size, cell.pairs.test_images) == (224, 4096) for cell in cells)
    for cell in cells:
        if cell.recipe is not None:
            assert (cell.recipe.steps, cell.recipe.batch_size, cell.encoder.name) == (30_000, 512, "resnet18")


def test_causal3dident_as_printed():
    cells = find_study("causal3dident").experiments("paper")
    assert len(cells) == 18
    values = [value.value for value in cells[13].published.values()]
    assert (cells[13].name, values) == ("DGP rotations, AnInfoNCE", [1.0, 0.57, 0.86])
    assert all(cell.recipe.steps == 100_000 for cell in cells)


def write_released(folder, kind, n):
    """Random pictures in the authors' layout, which holds no `about.json`."""
    rng = np.random.default_rng(0)
    names = {"threedident": ("train", "test"), "causal3dident": ("trainset", "testset")}[kind]
    for split in names:
        for c in range(7) if kind == "causal3dident" else [""]:
            end = f"_{c}" if kind == "causal3dident" else ""
            images = folder / split / f"images{end}"
            images.mkdir(parents=True)
            np.save(folder / split / f"raw_latents{end}.npy", rng.uniform(-1, 1, (n, 10)))
            for row in range(n):
                pixels = rng.integers(0, 256, (16, 16, 3), dtype=np.uint8)
                Image.fromarray(pixels).save(images / f"{row:02}.png")


@pytest.mark.parametrize(
    ("study", "n", "only"),
    [
        ("table4", 40, ["row 1:*", "row 5:*", "supervised", "identity"]),
        ("causal3dident", 11, ["DGP hues, AnInfoNCE", "rotations, InfoNCE"]),
    ],
)
def test_released_files_are_judged(study, n, only, tmp_path):
    write_released(tmp_path, "threedident" if study == "table4" else study, n)
    tasks = plan([find_study(study)], "smoke", only=only, changes={**TINY, "pairs.data": str(tmp_path)})
    for task in tasks:
        row = execute(task)
        assert row.error is None
        assert row.metrics["data"] == "released files"
        assert row.configuration["pairs"]["data"] == str(tmp_path)
        assert {value.goal for value in task.experiment.known_values("paper").values()} <= {"higher", "equal"}


def test_the_working_directory_does_not_decide_what_pictures_are(tmp_path, monkeypatch):
    # A folder that is called like the setting, with files in the authors' layout.
    write_released(tmp_path / "rendered", "threedident", 20)
    monkeypatch.chdir(tmp_path)
    for cell in (*find_study("table4").experiments("laptop"), *causal3dident.experiments("laptop")):
        assert {value.goal for value in cell.known_values("laptop").values()} == {"shown"}
    pairs = scenes.scene_pairs("threedident", scenes.SIZES["smoke"])
    assert pairs.label == "rendered on demand"
    grey = np.full((9, 3, 4, 4), 100, dtype=np.uint8)
    grey[::2] = 150
    assert float(pairs.standardize(grey).mean[0, 0]) > 0.4
    # By a path it is the folder that is meant.
    assert pairs.model_copy(update={"data": "./rendered"}).label == "released files"


def test_rendered_scenes_are_shown(tmp_path):
    for cell in (*find_study("table4").experiments("laptop"), *causal3dident.experiments("laptop")):
        assert cell.pairs.data == "rendered"
        assert {value.goal for value in cell.known_values("laptop").values()} == {"shown"}
    (tmp_path / "about.json").write_text("{}")
    (task,) = plan([find_study("table4")], "smoke", only=["row 1:*"], changes={"pairs.data": str(tmp_path)})
    assert {value.goal for value in task.experiment.known_values("laptop").values()} == {"shown"}


def test_the_wrong_data_set_is_refused(tmp_path):
    write_released(tmp_path, "causal3dident", 11)
    (task,) = plan(
        [find_study("table4")], "smoke", only=["row 1:*"], changes={**TINY, "pairs.data": str(tmp_path)}
    )
    assert "must be a folder of threedident, got one of causal3dident" in execute(task).error


@pytest.mark.skipif(not can_render(), reason="nothing can be drawn here: there is no EGL")
def test_scenes_on_demand_and_from_the_cache_and_from_a_folder(tmp_path, monkeypatch):
    """Drawn each time or kept, the same pairs give the same result; a folder has pairs of its own."""
    monkeypatch.setenv("ANINFONCE_DATA", str(tmp_path / "cache"))
    found = {}
    for keep in (True, False):
        (task,) = plan(
            [find_study("table4")], "smoke", only=["row 1:*"], changes={**TINY, "pairs.keep": keep}
        )
        row = execute(task)
        assert row.error is None
        assert row.metrics["data"] == "rendered on demand"
        found[keep] = row.metrics["R² [%]"]
    assert found[True] == found[False]
    write_scenes("threedident", tmp_path / "scenes", 40, size=16, test=20)
    changes = {**TINY, "pairs.data": str(tmp_path / "scenes")}
    (task,) = plan([find_study("table4")], "smoke", only=["row 1:*"], changes=changes)
    assert execute(task).metrics["data"] == "a rendered folder"


@pytest.mark.skipif(not can_render(), reason="nothing can be drawn here: there is no EGL")
@pytest.mark.parametrize("batches", ["neighbours", "random"])
def test_batches_of_pictures_that_look_alike(batches, tmp_path, monkeypatch):
    """Neighbours share what is seen from afar, the ground's hue above all; random pictures do not."""
    monkeypatch.setenv("ANINFONCE_DATA", str(tmp_path))
    sizes = replace(scenes.SIZES["smoke"], images=200, size=16)
    pairs = scenes.scene_pairs("threedident", sizes).model_copy(update={"batches": batches})
    source, _ = pairs.open(scene_process("normal", 0.1, size=None), 0)
    z = torch.stack([source.next(16).z[:, 9].std() for _ in range(2)])
    assert bool((z < 0.4).all()) == (batches == "neighbours")


@pytest.mark.skipif(not can_render(), reason="nothing can be drawn here: there is no EGL")
def test_a_closer_look_on_demand_and_from_the_cache(tmp_path, monkeypatch):
    """The same pairs, but for a pixel of thousands that is rounded otherwise elsewhere on its sheet."""
    monkeypatch.setenv("ANINFONCE_DATA", str(tmp_path))
    found = {}
    for keep in (True, False):
        changes = {**TINY, "pairs.size": 28, "pairs.keep": keep}
        (task,) = plan([find_study("table4")], "smoke", only=["closer*box*"], changes=changes)
        assert execute(task).error is None
        law = scene_process("normal", 0.2, size=None)
        source, _ = task.experiment.pairs.open(law, 0)
        found[keep] = [source.next(8) for _ in range(3)]
    for kept, drawn in zip(found[True], found[False], strict=True):
        assert torch.equal(kept.z, drawn.z)
        assert (kept.x != drawn.x).float().mean() < 1e-3
        assert (kept.x_pos != drawn.x_pos).float().mean() < 1e-3


@pytest.mark.skipif(not can_render(), reason="nothing can be drawn here: there is no EGL")
def test_unknown_names_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("ANINFONCE_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"pairs\.batches: .*'neighbours' or .*, got 'neighbors'"):
        plan([find_study("table4")], "smoke", changes={"pairs.batches": "neighbors"})
    changes = {**TINY, "pairs.size": 28, "encoder.name": "vit"}
    (task,) = plan([find_study("table4")], "smoke", only=["closer*box*"], changes=changes)
    error = execute(task).error
    assert "`encoder` must be" in error
    assert "vit" in error


def test_a_closer_look_stands_beside_the_rows():
    """On a laptop alone: the same rows with other pictures, network and batches."""
    cells = {cell.name: cell for cell in find_study("table4").experiments("laptop")}
    closer = {name: cell for name, cell in cells.items() if name.startswith("closer look")}
    assert len(closer) == 4
    for name, cell in closer.items():
        (row,) = (other for key, other in cells.items() if key.endswith(name.split(": ")[1]) and key != name)
        assert cell.published == row.published
        assert (cell.encoder.name, row.encoder.name) == ("glimpse", "small-conv")
        assert (cell.pairs.batches == "neighbours") == (cell.loss is not None)
    assert not [cell for cell in find_study("table4").experiments("paper") if "closer" in cell.name]


@pytest.mark.skipif(not can_render(), reason="nothing can be drawn here: there is no EGL")
def test_a_night_that_is_cut_short_goes_on_and_ends_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("ANINFONCE_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr(wide_start, "_WATCH_START", {"pairs": 256})
    smaller = {"pairs.images": 64, "pairs.size": 28, "pairs.test_images": 40, "watch.pairs": 256}
    steps = {"recipe.steps": 9, "recipe.warmup": 0, "recipe.batch_size": 32, "watch.checkpoint_every": 2}
    start = {"encoder.start.steps": 6, "encoder.start.columns": 12, "encoder.start.pictures": 64}
    only = ["hard negatives: normal → box*"]
    (task,) = plan([find_study("table4")], "overnight", only=only, changes={**smaller, **steps, **start})
    whole = execute(task)
    assert whole.error is None
    assert [len(values) for values in whole.metrics["curves"]["r2_per_latent"]] == [10] * 9
    (axes,) = find_study("table4").plot([whole])["R² of each latent"].axes
    assert list(axes.lines[0].get_xdata()) == list(range(1, 16))

    class Killed(BaseException):
        pass

    def execute_killed_after(draws):
        rest, draw = iter(range(draws)), FreshScenes.next

        def next_until_killed(self, n):
            if next(rest, None) is None:
                raise Killed
            return draw(self, n)

        with monkeypatch.context() as patch:
            patch.setattr(FreshScenes, "next", next_until_killed)
            with pytest.raises(Killed):
                execute(task)

    task = replace(task, scratch=tmp_path / "unfinished")
    execute_killed_after(5)  # the start is there already
    assert list((tmp_path / "unfinished").iterdir())
    assert _without_seconds(execute(task)) == _without_seconds(whole)

    monkeypatch.setenv("ANINFONCE_DATA", str(tmp_path / "another"))
    execute_killed_after(4)  # in the start, after its fourth step
    assert list((tmp_path / "another" / "scenes").glob("start-*/checkpoints/step-00000004"))
    assert _without_seconds(execute(task)) == _without_seconds(whole)


def _without_seconds(row):
    assert row.error is None
    return {**row.metrics, "start": {**row.metrics["start"], "seconds": 0}}


def test_hard_negatives_need_pictures_that_are_drawn_while_training(tmp_path):
    (task,) = plan([find_study("table4")], "overnight", only=["hard negatives: laplace*"])
    for path, value in (("pairs.uses", 0), ("pairs.data", str(tmp_path))):
        with pytest.raises(ValueError, match="`batches` must be 'random' or 'neighbours'"):
            task.experiment.edited(path, value)
