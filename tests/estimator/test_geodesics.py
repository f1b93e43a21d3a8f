"""A start that is unrolled: what lasts, lengths of paths, and an encoder fitted to them."""

import numpy as np
import pytest
import torch

from aninfonce import ContrastiveICA, ContrastiveICAWarning
from aninfonce.encoders import build_head
from aninfonce.encoders.embedding import Embedding
from aninfonce.estimator.geodesics import lasting_directions, start_unrolled, unroll
from aninfonce.losses import AnInfoNCE
from aninfonce.metrics import linear_r2
from aninfonce.processes import PairBatch
from tests.estimator.small import UNFINISHED, quick


def walk(rows=3000, seed=0, channels=40):
    """A walk in a square, and bumps that fire along it: each again and again, as grid cells do."""
    rng = np.random.default_rng(seed)
    place, speed = np.zeros((rows, 2)), np.zeros(2)
    place[0] = 0.5
    for t in range(1, rows):
        speed = 0.8 * speed + 0.02 * rng.normal(size=2)
        place[t] = place[t - 1] + speed
        # Walls throw back.
        outside = (place[t] < 0) | (place[t] > 1)
        speed[outside] *= -1
        place[t] = np.abs(place[t])
        place[t] = 1 - np.abs(1 - place[t])
    waves = rng.normal(size=(2, channels))
    waves *= rng.choice([6.0, 10.0], size=channels) / np.linalg.norm(waves, axis=0)
    seen = np.cos(place @ waves + rng.uniform(0, 2 * np.pi, channels))
    return place, seen + 0.3 * rng.normal(size=seen.shape)


def test_directions_leave_out_noise_however_loud():
    seen = walk()[1]
    loud = np.hstack([seen, 50 * np.random.default_rng(1).normal(size=(len(seen), 5))])
    directions = lasting_directions(loud[:-1], loud[1:])
    mapped = loud @ directions
    # What the loud channels add to any distance is small beside what the others do.
    noise = loud[:, -5:] @ directions[-5:]
    assert noise.var(axis=0).sum() < 0.02 * mapped.var(axis=0).sum()


def test_a_rolled_sheet_is_laid_flat():
    rng = np.random.default_rng(0)
    along, across = rng.uniform(3, 10, 1200), rng.uniform(0, 10, 1200)
    roll = np.stack([along * np.cos(along), across, along * np.sin(along)], axis=1)
    found = unroll(roll, 2)
    # Length along a spiral of Archimedes, nearly.
    assert linear_r2(np.stack([along**2, across], axis=1), found.coordinates).mean > 0.97
    assert found.residual < 0.02
    assert np.allclose((found.coordinates**2).mean(), 1.0)
    # A cloud in five dimensions has no such coordinates.
    assert unroll(rng.normal(size=(600, 5)), 2).residual > 0.2


def test_an_encoder_starts_from_the_sheet_and_from_the_scale_of_steps():
    place, seen = walk()
    x = torch.from_numpy(seen).float()
    body = torch.nn.Sequential(torch.nn.Linear(40, 64), torch.nn.LeakyReLU(0.2), torch.nn.Linear(64, 2))
    embedding, loss = Embedding(body, build_head("none", 2)), AnInfoNCE(2, normalize=False)
    residual = start_unrolled(embedding, loss, [PairBatch(x[:-1], x[1:])], seed=0)
    assert residual < 0.1
    with torch.no_grad():
        h = embedding(x)
    assert linear_r2(place, h).mean > 0.9
    steps = (h[1:] - h[:-1]).square().mean(dim=0)
    assert torch.allclose(loss.concentration.detach() * steps, torch.ones(2), rtol=1e-3)


@UNFINISHED
def test_the_whole_way_finds_the_square():
    place, seen = walk()
    ica = ContrastiveICA(2, lag=4, start="geodesic", max_steps=150, random_state=0, device="cpu")
    ica.fit(seen[:2400])
    assert linear_r2(place[2400:], ica.transform(seen[2400:])).mean > 0.85
    assert 0 < ica.start_residual_ < 0.1


@UNFINISHED
def test_without_it_nothing_is_unrolled_and_it_is_saved(tmp_path):
    seen = walk(600)[1]
    assert quick(n_components=2).fit(seen).start_residual_ is None
    ica = quick(n_components=2, start="geodesic").fit(seen)
    again = ContrastiveICA.load(ica.save(tmp_path / "saved"))
    assert (again.start, again.start_residual_) == ("geodesic", ica.start_residual_)


def test_rows_that_are_no_sheet_are_told_of():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 8))
    with pytest.warns(ContrastiveICAWarning, match=r"leave \d+% of the path lengths unexplained"):
        quick(n_components=2, start="geodesic").fit(x, x + 0.1 * rng.normal(size=x.shape))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": "isomap"}, "`start` must be one of"),
        ({"start": "geodesic", "space": "sphere"}, "`start` must be 'random' unless `space` is one of"),
    ],
)
def test_a_start_that_is_not_there_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        quick(**changes).fit(np.random.default_rng(0).normal(size=(100, 4)))


def test_too_few_rows_streams_and_pictures_start_at_random():
    x = np.random.default_rng(0).normal(size=(40, 4))
    with pytest.raises(ValueError, match="`start` must be 'random' for fewer than 50 pairs"), pytest.warns():
        quick(start="geodesic").fit(x)
    with pytest.raises(ValueError, match="`start` must be 'random' for partial_fit"):
        quick(start="geodesic").partial_fit(x)
    pictures = np.random.default_rng(0).normal(size=(150, 1, 8, 8))
    with pytest.raises(ValueError, match="`start` must be 'random' for pictures"):
        quick(start="geodesic", encoder="small-conv", encoder_options=None).fit(pictures)


def test_more_channels_than_pairs_have_the_same_directions():
    """Moments of all channels with all took 25 s of 3000 channels and 100 rows."""
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.normal(size=(40, 60)), axis=0)
    x_pos = x + 0.3 * rng.normal(size=x.shape)
    # With as many channels of noughts there are more than rows.
    wide, wide_pos = (np.concatenate([part, np.zeros((40, 60))], axis=1) for part in (x, x_pos))
    found = lasting_directions(wide, wide_pos)
    rotation = np.linalg.qr(rng.normal(size=(120, 120)))[0]
    turned = lasting_directions(wide @ rotation, wide_pos @ rotation)
    distances = [
        np.linalg.norm(rows[:20] - rows[20:], axis=1) for rows in (wide @ found, wide @ rotation @ turned)
    ]
    np.testing.assert_allclose(*distances, rtol=1e-6)
    np.testing.assert_allclose(found[60:], 0.0, atol=1e-9)
    many = np.cumsum(rng.normal(size=(60, 20_000)), axis=0)
    assert lasting_directions(many, many[::-1]).shape[0] == 20_000
