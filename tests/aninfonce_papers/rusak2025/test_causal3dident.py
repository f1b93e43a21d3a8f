"""Scores of embeddings whose worth is known: pictures that hold their latents, and what is kept of these."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from aninfonce.augment import Compose, TurnedViews
from aninfonce.extending import SEEN_LOSS
from aninfonce_papers.engine import find_study, plan
from aninfonce_papers.rusak2025.causal3dident import ClassAndLatents
from aninfonce_papers.worlds.scenes import LATENTS

SIDE, EACH = 8, 60
HUES, ROTATIONS = (7, 8, 9), (3, 4, 5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pictures in the authors' layout: the first bytes of each are its latents, two bytes a latent."""
    rng, place = np.random.default_rng(0), tmp_path_factory.mktemp("causal")
    for split in ("trainset", "testset"):
        for kind in range(7):
            images = place / split / f"images_{kind}"
            images.mkdir(parents=True)
            latents = rng.uniform(-1, 1, (EACH, len(LATENTS)))
            np.save(place / split / f"raw_latents_{kind}.npy", latents)
            for row, z in enumerate(latents):
                whole = np.round((z + 1) / 2 * 65_535).astype(np.uint16)
                pixels = np.zeros(SIDE * SIDE * 3, dtype=np.uint8)
                pixels[:20] = np.stack([whole // 256, whole % 256], axis=1).ravel()
                pixels[20] = kind
                Image.fromarray(pixels.reshape(SIDE, SIDE, 3)).save(images / f"{row:02}.png")
    return place


def read(x):
    """Give the latents (N, 10) and classes (N,) that pictures hold."""
    numbers = (255 * x).round().permute(0, 2, 3, 1).flatten(1)
    z = (256 * numbers[:, :20:2] + numbers[:, 1:20:2]) / 65_535 * 2 - 1
    return z, numbers[:, 20].long()


def everything(x):
    z, classes = read(x)
    return torch.cat([z, torch.nn.functional.one_hot(classes, 7)], dim=1)


def score(folder, monkeypatch, embed, views="DGP hues, AnInfoNCE", concentration=None):
    history = [{"step": 3, SEEN_LOSS: 1.5}]
    fitted = SimpleNamespace(embed=embed, concentration=concentration, history=history)
    monkeypatch.setattr("aninfonce_papers.zimmermann2021.scenes.fit", lambda *_, **__: fitted)
    changes = {"pairs.data": str(folder), "pairs.size": SIDE, "pairs.test_images": 7 * EACH}
    (task,) = plan([find_study("causal3dident")], "smoke", only=[views], changes=changes)
    return task.experiment.run(0)


def test_an_embedding_of_all_latents_and_the_class_scores_one(folder, monkeypatch):
    found = score(folder, monkeypatch, everything, concentration=torch.tensor([3.0, 1.0, 2.00049]))
    assert found["class"] == 1.0
    assert found["linear R²"] == pytest.approx(1.0, abs=1e-6)
    assert found["nonlinear R²"] > 0.95
    assert found["Λ̂"] == [1.0, 2.0, 3.0]
    assert found["data"] == "released files"
    assert found["curves"] == {"steps": [3], SEEN_LOSS: [1.5]}


def test_a_constant_scores_nothing(folder, monkeypatch):
    found = score(folder, monkeypatch, lambda x: torch.ones(len(x), 11))
    assert found["class"] < 0.3  # the largest of seven classes among half of the pictures
    assert found["linear R²"] == pytest.approx(0.0, abs=0.02)
    assert found["nonlinear R²"] == pytest.approx(0.0, abs=0.02)
    assert "Λ̂" not in found


def test_embeddings_of_other_pictures_score_nothing(folder, monkeypatch):
    def shuffled(x):
        return everything(x)[torch.randperm(len(x), generator=torch.Generator().manual_seed(0))]

    found = score(folder, monkeypatch, shuffled)
    assert found["class"] < 0.3
    assert found["linear R²"] < 0.05
    assert found["nonlinear R²"] < 0.05


def test_what_is_kept_is_told_by_groups(folder, monkeypatch):
    """Three hues of ten latents: R² is 1 for these and 0 for the rest, and the class is lost."""
    found = score(folder, monkeypatch, lambda x: read(x)[0][:, HUES])
    assert found["linear R²"] == pytest.approx(0.3, abs=0.03)
    assert found["nonlinear R² of hues"] > 0.99
    # A guess from what tells nothing does some harm on other pictures: R² is below 0, never above.
    for name in ("positions", "rotations"):
        assert -0.2 < found[f"nonlinear R² of {name}"] < 0.05
    assert found["class"] < 0.3


def test_a_bent_embedding_is_read_by_the_nonlinear_score_alone(folder, monkeypatch):
    """Cosine and sine of half a turn hold an angle whole; of a latent that is even, a line finds none."""

    def bent(x):
        return torch.cat([torch.cos(torch.pi * read(x)[0][:, HUES]), read(x)[0][:, HUES].sign()], dim=1)

    found = score(folder, monkeypatch, bent)
    assert found["nonlinear R² of hues"] > 0.95
    # A sign explains ¾ of a uniform latent: the square of their correlation, (½)² / (⅓ · 1).
    assert found["linear R²"] == pytest.approx(0.3 * 0.75, abs=0.04)


class Pairs:
    """Takes down what pairs are asked for."""

    def open(self, law, seed, views=None):
        self.law, self.views = law, views
        return None, None


@pytest.mark.parametrize(
    ("views", "moves"),
    [
        ("DGP hues", HUES),
        ("DGP rotations", ROTATIONS),
        ("DGP positions", (0, 1, 2, 6)),
        ("DGP positions and hues", (0, 1, 2, 6, *HUES)),
    ],
)
def test_true_views_change_the_latents_that_they_name(views, moves):
    pairs = Pairs()
    ClassAndLatents(views=views).source(pairs, seed=0)
    drawn = pairs.law.sample(50, torch.Generator().manual_seed(0))
    changed = (drawn.z != drawn.z_pos).any(dim=0).nonzero()[:, 0].tolist()
    assert changed == sorted(moves)


@pytest.mark.parametrize(
    ("views", "names", "smallest"),
    [
        ("small crops", ["crop", "flip"], 0.08),
        ("large crops", ["crop", "flip"], 0.8),
        ("colour jitter", ["jitter", "grey"], None),
        ("small crops and colour", ["crop", "flip", "jitter", "grey"], 0.08),
        ("rotations", None, None),
    ],
)
def test_augmented_views_are_those_that_they_name(views, names, smallest):
    pairs = Pairs()
    ClassAndLatents(views=views).source(pairs, seed=0)
    source = pairs.views(np.zeros((4, 3, 8, 8), dtype=np.uint8))
    if names is None:
        assert isinstance(source, TurnedViews)
        return
    assert isinstance(source.augmentation, Compose)
    assert [step.name for step in source.augmentation.steps] == names
    if smallest is not None:
        assert source.augmentation.steps[0].area == (smallest, 1.0)
