"""Cells on a folder of pictures: killed and resumed, and on two processes."""

import numpy as np
import pytest
import torch
from PIL import Image

from aninfonce.augment import ViewSource, simclr
from aninfonce.datasets import LabelledImages
from aninfonce.training.checkpoints import checkpoints_in
from aninfonce_papers.engine import ResultStore, find_study, plan, run_sweep
from aninfonce_papers.rusak2025.simclr.experiment import grey_views, training_config
from aninfonce_papers.rusak2025.simclr.probes import GREY_READOUTS
from tests.datasets.files import pixels
from tests.held import held_command
from tests.ports import reserved_port


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Two classes, in a training and a validation part, as ImageNet has them."""
    folder = tmp_path_factory.mktemp("pictures")
    random = np.random.default_rng(0)
    for split, count in (("train", 24), ("val", 12)):
        for number, name in enumerate(("red", "blue")):
            (folder / split / name).mkdir(parents=True)
            for i in range(count):
                picture = random.integers(0, 128, (40, 48, 3), dtype=np.uint8)
                picture[..., 2 * number] += 100
                Image.fromarray(picture).save(folder / split / name / f"{i}.png")
    return folder


def tasks(pictures, **changes):
    changes = {"pairs.data": str(pictures), "pairs.images": 48, "pairs.test_images": 24, **changes}
    return plan([find_study("imagenet")], "smoke", only=["AnInfoNCE"], changes=changes)


def test_imagenets_way_on_a_folder(tmp_path, pictures):
    (row,) = run_sweep(tasks(pictures), ResultStore(tmp_path))
    assert row.error is None
    assert row.metrics["backbone: classes [%]"] > 50.0
    assert len(row.metrics["Λ̂"][0]) == 8
    assert not list((tmp_path / "unfinished").iterdir())


@pytest.mark.process
def test_two_processes_take_their_rows_and_give_a_result(tmp_path, pictures, monkeypatch):
    with reserved_port() as port:
        monkeypatch.setenv("MASTER_PORT", str(port))
        (row,) = run_sweep(tasks(pictures, **{"score.devices": 2}), ResultStore(tmp_path))
    assert row.error is None
    assert row.published["backbone: average [%]"].value == 79.3
    assert set(row.published) <= set(row.metrics)


def test_shards_of_a_batch_are_its_rows():
    whole = ViewSource(pixels(20), simclr(), seed=3)
    shards = [ViewSource(pixels(20), simclr(), seed=3, shard=(rank, 2)) for rank in range(2)]
    for _ in range(3):
        expected = whole.next(7)
        parts = [shard.next(7) for shard in shards]
        assert [len(part) for part in parts] == [3, 4]
        assert torch.equal(torch.cat([part.x for part in parts]), expected.x)
        assert torch.equal(torch.cat([part.x_pos for part in parts]), expected.x_pos)


@pytest.mark.process
def test_a_killed_cell_goes_on_and_ends_the_same(tmp_path, pictures):
    longer = {"recipe.steps": 12, "watch.checkpoint_every": 3}
    changes = {"pairs.data": pictures, "pairs.images": 48, "pairs.test_images": 24, **longer}
    options = [f"--set={name}={value}" for name, value in changes.items()]
    options += ["--preset", "smoke", "--only", "AnInfoNCE", "--jobs", "1", "--out", tmp_path / "killed"]
    with held_command("after step-00000006", "run", "imagenet", *options):
        pass  # and killed
    store = ResultStore(tmp_path / "killed")
    assert store.rows() == []
    (cell,) = (tmp_path / "killed" / "unfinished").iterdir()
    assert checkpoints_in(cell)[-1].name == "step-00000006"

    (resumed,) = run_sweep(tasks(pictures, **longer), store)
    (whole,) = run_sweep(tasks(pictures, **longer), ResultStore(tmp_path / "whole"))
    assert resumed.error is whole.error is None
    assert resumed.metrics == whole.metrics


def test_the_papers_recipe():
    (cell, *_) = find_study("cifar10").experiments("paper")
    config = training_config(cell, 50_000, 256, 0)
    recipe = config.recipe
    assert (recipe.steps, recipe.warmup, recipe.decay) == (195_000, 1_950, "cosine")
    assert (recipe.optimizer, recipe.lars_lr, recipe.lars_decay) == ("lars", 0.3, 1e-6)
    assert config.checkpoint_every > 0
    # As many epochs of fewer images.
    fewer = training_config(cell, 25_000, 256, 0).recipe
    assert (fewer.steps, fewer.warmup) == (97_500, 975)


def test_a_night_has_views_made_ahead_and_the_quick_network():
    (cell, *_) = find_study("cifar10").experiments("overnight")
    source = cell.pairs.open(LabelledImages(pixels(20), np.zeros(20)), 3)
    x = source.next(7).x
    assert x.shape[2:] == (24, 24)
    assert torch.equal(x, ViewSource(pixels(20), simclr(size=24), seed=3).next(7).x)
    network = cell.encoder.network(3, 0)
    assert network(torch.zeros(2, 3, 32, 32)).shape == (2, 128)
    assert network.features(torch.zeros(2, 3, 32, 32)).shape == (2, 512)
    assert cell.watch.checkpoint_every > 0
    assert {known.goal for known in cell.known_values("overnight").values()} == {"shown"}


def test_pictures_without_colours_have_views_without_them():
    (cell, *_) = find_study("fashion-mnist").experiments("overnight")
    images = pixels(40, (1, 28, 28))
    drawn = cell.pairs.open(LabelledImages(images, np.zeros(40)), 3).next(40)
    assert drawn.x.shape == (40, 1, 24, 24)
    assert torch.equal(drawn.x, ViewSource(images, grey_views(24), seed=3).next(40).x)
    assert not any(step.colour for step in grey_views().steps)
    parameters = grey_views()(torch.rand(2_000, 1, 8, 8), 0).parameters
    for name in ("brightness", "contrast"):
        assert float(parameters[f"{name}.factor"].max()) == pytest.approx(GREY_READOUTS[name], abs=0.01)
    assert cell.encoder.network(1, 0)(drawn.x).shape == (40, 128)
    assert cell.published == {}
