"""Pairs: exact positives on demand, exact nearest neighbours among stored ones, and streams that resume."""

import numpy as np
import pytest
import torch
from torch import Generator

from aninfonce.datasets.picture_folder import FolderImages
from aninfonce.sources.array_source import ArraySource
from aninfonce_papers.worlds.scenes import (
    MatchedSource,
    NearestLatents,
    PicturePairs,
    SceneImages,
    scene_process,
)


def brute_force(stored, wanted, k):
    distances = ((wanted[:, None] - stored) ** 2).sum(axis=2)
    return np.argsort(distances, axis=1)[:, :k]


def test_nearest_is_exact():
    rng = np.random.default_rng(0)
    stored, wanted = rng.uniform(-1, 1, (500, 10)), rng.uniform(-1, 1, (80, 10))
    nearest = NearestLatents(stored)
    two = brute_force(stored, wanted, 2)
    assert np.array_equal(nearest.rows(wanted), two[:, 0])
    anchors = two[:, 0].copy()
    anchors[40:] = (anchors[40:] + 1) % 500
    partners = nearest.partners(anchors, wanted)
    assert np.array_equal(partners[:40], two[:40, 1])
    assert np.array_equal(partners[40:], two[40:, 0])


def test_nearest_within_a_class():
    rng = np.random.default_rng(1)
    stored, classes = rng.uniform(-1, 1, (300, 10)), rng.integers(0, 3, 300)
    anchors = rng.integers(0, 300, 50)
    partners = NearestLatents(stored, classes).partners(anchors, stored[anchors] + 0.05)
    assert (classes[partners] == classes[anchors]).all()
    assert (partners != anchors).all()
    for anchor, partner in zip(anchors, partners, strict=True):
        others = np.flatnonzero((classes == classes[anchor]) & (np.arange(300) != anchor))
        distances = ((stored[others] - stored[anchor] - 0.05) ** 2).sum(axis=1)
        # The nearest that is not the anchor, unless the anchor was not the nearest anyway.
        assert partner == others[distances.argmin()]


def test_bad_latents():
    with pytest.raises(ValueError, match="at least 2"):
        NearestLatents(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="each class at least twice, got one of 1"):
        NearestLatents(np.zeros((3, 3)), [0, 0, 1])
    with pytest.raises(ValueError, match="among 0, got 4"):
        NearestLatents(np.zeros((3, 3))).rows(np.zeros((1, 3)), [4])


@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_positives_follow_the_law(law):
    """Anchors in the middle are hardly truncated: a mean distance of σ√(2/π), or of the Laplace scale."""
    pairs = scene_process(law, 0.1, size=None).sample(4000, Generator().manual_seed(0))
    step = (pairs.z_pos - pairs.z)[pairs.z.abs() < 0.5].abs()
    assert float(step.mean()) == pytest.approx(
        0.1 * (1 if law == "laplace" else (2 / np.pi) ** 0.5), rel=0.03
    )
    assert float(pairs.z_pos.abs().max()) <= 1


def test_latents_that_are_not_redrawn_stay():
    pairs = scene_process(scale=1.0, latents=(7, 8, 9), size=None).sample(50, Generator().manual_seed(0))
    assert torch.equal(pairs.z[:, :7], pairs.z_pos[:, :7])
    assert bool((pairs.z[:, 7:] != pairs.z_pos[:, 7:]).all())


def test_pictures_of_a_process_are_those_of_its_latents(renderer):
    pairs = scene_process(size=24).sample(3, Generator().manual_seed(0))
    assert pairs.x_pos.shape == (3, 3, 24, 24)
    assert 0 <= float(pairs.x.min()) < float(pairs.x.max()) <= 1
    again = scene_process(size=24).mixing(pairs.z_pos)
    assert torch.equal(pairs.x_pos, again)


class Numbered(FolderImages):
    """Pictures whose pixels are their row."""

    def _open(self, path):
        return np.full((3, 8, 8), int(path), dtype=np.uint8)


@pytest.fixture
def stored():
    latents = np.random.default_rng(0).uniform(-1, 1, (200, 10))
    return SceneImages("threedident", Numbered([str(i) for i in range(200)], 8), latents, np.zeros(200, int))


def test_matched_pairs(stored):
    source = MatchedSource(stored, scene_process(scale=0.01, size=None), seed=0)
    pairs = source.next(64)
    rows, rows_pos = ((x[:, 0, 0, 0] * 255).round().long() for x in (pairs.x, pairs.x_pos))
    assert np.allclose(pairs.z, stored.latents[rows])
    assert np.allclose(pairs.z_pos, stored.latents[rows_pos])
    assert bool((rows != rows_pos).all())
    # With so few stored and so small a step, the nearest to a positive is often the anchor's second nearest.
    state = source.state()
    following = source.next(8)
    source.fresh(8)
    source.restore(state)
    assert torch.equal(source.next(8).x_pos, following.x_pos)


def test_matched_pairs_of_classes(stored):
    classes = np.arange(200) % 7
    causal = SceneImages("causal3dident", stored.images, stored.latents, classes)
    source = MatchedSource(causal, scene_process(scale=1.0, latents=(3, 4, 5), size=None))
    rows, rows_pos = source.rows(100, Generator().manual_seed(0))
    assert (classes[rows] == classes[rows_pos]).all()


def test_pairs_on_disk():
    x = np.random.default_rng(0).integers(0, 256, (20, 3, 8, 8), dtype=np.uint8)
    source = ArraySource(PicturePairs(x, x[::-1], torch.arange(20.0)[:, None]), seed=0)
    batch = source.next(5)
    rows = batch.z[:, 0].long().numpy()
    assert np.allclose(batch.x * 255, x[rows])
    assert np.allclose(batch.x_pos * 255, x[::-1][rows])
    with pytest.raises(ValueError, match="`x_pos`"):
        PicturePairs(x, x[:5])
