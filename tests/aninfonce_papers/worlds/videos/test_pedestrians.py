"""Generated pedestrians: the same each time, shaped like people, and moving as natural things do."""

import numpy as np
import pytest
from scipy.ndimage import label
from scipy.stats import kurtosis

from aninfonce_papers.worlds.videos import generate_videos, mask_latents
from aninfonce_papers.worlds.videos.masks import GENERATED
from aninfonce_papers.worlds.videos.silhouettes import Figures, draw


@pytest.fixture(scope="module")
def videos():
    return generate_videos(120, seed=3, longest=40)


def figures(n=1, **changes):
    usual = {
        "x": 32.0,
        "ground": 60.0,
        "height": 50.0,
        "heading": 0.0,
        "phase": 0.0,
        "stride": 0.0,
        "build": 1.0,
        "coat": 0.0,
        "pack": 0.0,
    }
    return Figures(*(np.full(n, value, dtype=np.float32) for value in (usual | changes).values()))


def width(mask):
    columns = np.flatnonzero(mask.any(axis=0))
    return columns[-1] - columns[0] + 1


def test_format(videos):
    assert len(videos) == 120
    assert videos.source == GENERATED
    for masks, latents in zip(videos.masks, videos.latents, strict=True):
        assert 2 <= len(masks) <= 40
        np.testing.assert_array_equal(latents, mask_latents(masks))
        assert latents[:, 2].min() >= 30


def test_a_seed_decides():
    first, again, other = (generate_videos(10, seed=seed, longest=10) for seed in (3, 3, 4))
    for one, two in zip(first.masks, again.masks, strict=True):
        np.testing.assert_array_equal(one, two)
    assert any(
        one.shape != two.shape or (one != two).any()
        for one, two in zip(first.masks, other.masks, strict=True)
    )


def test_changes_are_sparse(videos):
    """A normal distribution has an excess kurtosis of 0, a Laplace distribution of 3."""
    changes = np.concatenate([np.diff(latents, axis=0) for latents in videos.latents])
    assert (kurtosis(changes) > 1.5).all()
    scale = changes.std(axis=0)
    still = (np.abs(changes) < 0.1 * scale).mean(axis=0)
    # Under a normal distribution 8 % are as near to zero.
    assert (still > 0.12).all()


def test_factors_vary_and_none_is_another(videos):
    latents = np.concatenate(videos.latents)
    assert (latents.std(axis=0) > [3, 8, 30]).all()
    correlation = np.corrcoef(latents.T) - np.eye(3)
    assert np.abs(correlation).max() < 0.8


def test_a_person_is_one_piece_of_the_given_height():
    for heading in np.linspace(0, 2 * np.pi, 9):
        for phase in (0.0, 1.5, 3.0, 5.0):
            (mask,) = draw(figures(heading=heading, phase=phase, stride=0.45))
            assert label(mask)[1] == 1
            rows = np.flatnonzero(mask.any(axis=1))
            assert 45 <= rows[-1] - rows[0] + 1 <= 52
            assert abs(rows[-1] - 60) <= 2


def test_turning_changes_the_width_and_striding_the_legs():
    front, side = draw(figures())[0], draw(figures(heading=np.pi / 2))[0]
    assert width(front) > 1.3 * width(side[:50])
    apart = draw(figures(heading=np.pi / 2, phase=np.pi / 2, stride=0.5))[0]
    assert width(apart[50:]) > 1.8 * width(side[50:])
    # To the left is the mirror image of to the right, about column 32.
    left = draw(figures(heading=-np.pi / 2))[0]
    np.testing.assert_array_equal(left[:, 1:], side[:, :0:-1])


def test_size_is_scale_and_clothes_add_to_it():
    area = {height: draw(figures(height=height))[0].sum() for height in (12.5, 25.0, 50.0)}
    assert 3.2 < area[50.0] / area[25.0] < 4.8
    assert 20 < area[12.5] < 40
    plain = draw(figures(heading=np.pi / 2))[0]
    for clothes in ("coat", "pack"):
        dressed = draw(figures(heading=np.pi / 2, **{clothes: 1.0}))[0]
        assert (dressed | plain == dressed).all()
        assert dressed.sum() > plain.sum() + 10


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="`count` must be a whole number of at least 1"):
        generate_videos(0)
    with pytest.raises(ValueError, match="`longest` must be a whole number of at least 2"):
        generate_videos(3, longest=1)
    assert draw(figures(0)).shape == (0, 64, 64)
