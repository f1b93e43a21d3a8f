"""Each latent does to the picture what it says, and nothing depends on what is drawn together."""

import colorsys

import numpy as np
import pytest

from aninfonce_papers.worlds.scenes import LATENTS, SHAPES, SceneRenderer
from aninfonce_papers.worlds.scenes import renderer as module


def scenes(latent, values):
    """The same scene with one latent at several values."""
    latents = np.zeros((len(values), len(LATENTS)))
    latents[:, 4:6] = -0.1, 0.2
    latents[:, LATENTS.index(latent)] = values
    return latents


def object_pixels(picture):
    """Where the object is: the only thing of full saturation, (n, 2) rows and columns."""
    high, low = picture.max(axis=0).astype(float), picture.min(axis=0).astype(float)
    return np.argwhere((high > 60) & (low < 0.2 * high))


def test_the_same_latents_give_the_same_pixels_in_any_company(renderer):
    latents = np.random.default_rng(0).uniform(-1, 1, (5, 10))
    classes = np.array([0, 1, 2, 3, 6])
    together = renderer.render(latents, classes)
    assert together.dtype == np.uint8
    assert together.shape == (5, 3, 48, 48)
    assert np.array_equal(together, renderer.render(latents, classes))
    reversed_order = renderer.render(latents[::-1], classes[::-1])
    assert np.array_equal(together, reversed_order[::-1])


def test_what_is_drawn_beside_a_picture_does_not_matter(renderer):
    """Exactly so on the same place of the sheet; elsewhere a pixel of thousands is rounded otherwise."""
    latents = np.random.default_rng(0).uniform(-1, 1, (60, 10))
    pictures = renderer.render(latents)
    beside = latents.copy()
    beside[1::2] = np.random.default_rng(1).uniform(-1, 1, (30, 10))
    assert np.array_equal(renderer.render(beside)[::2], pictures[::2])
    alone = np.concatenate([renderer.render(row[None]) for row in latents])
    assert (alone != pictures).any(axis=1).mean() < 1e-3


@pytest.mark.parametrize("latent", LATENTS)
def test_each_latent_changes_the_picture(renderer, latent):
    pictures = renderer.render(scenes(latent, [-0.8, -0.7, 0.8])).astype(float)
    small, large = (np.abs(pictures[i] - pictures[0]).mean() for i in (1, 2))
    assert 0.05 < small < large


@pytest.mark.parametrize(("latent", "axis", "sign"), [("x", 0, 1), ("y", 1, 1), ("z", 0, -1)])
def test_the_object_moves(renderer, latent, axis, sign):
    """Towards the viewer is down, y is to the right, and z is up."""
    pictures = renderer.render(scenes(latent, [-0.9, 0.0, 0.9]))
    centres = [object_pixels(picture).mean(axis=0) for picture in pictures]
    steps = np.diff([centre[axis] for centre in centres]) * sign
    assert (steps > 1.5).all()
    if latent == "y":
        assert np.ptp([centre[0] for centre in centres]) < 1.5


def test_the_object_comes_nearer(renderer):
    far, near = (len(object_pixels(picture)) for picture in renderer.render(scenes("x", [-0.9, 0.9])))
    assert near > 1.5 * far


def test_hue_of_the_object(renderer):
    """A quarter turn of hue either way; negative hues wrap."""
    values = np.array([-0.9, -0.4, 0.0, 0.4, 0.9])
    hues = []
    for picture in renderer.render(scenes("object hue", values)):
        places = object_pixels(picture)
        colour = picture[:, places[:, 0], places[:, 1]].mean(axis=1) / 255
        hues.append((colorsys.rgb_to_hsv(*colour)[0] + 0.5) % 1 - 0.5)
    assert (np.diff(hues) > 0.02).all()
    # The red light moves all of them towards red.
    assert np.abs(hues - values / 4).max() < 0.1


@pytest.mark.parametrize("value", [-0.8, 0.7])
def test_hue_of_the_ground(renderer, value):
    (picture,) = renderer.render(scenes("ground hue", [value]))
    corner = picture[:, :4, :4].mean(axis=(1, 2)) / 255
    hue = colorsys.rgb_to_hsv(*corner)[0]
    assert abs((hue - value / 4 + 0.5) % 1 - 0.5) < 0.03


def test_the_spotlight_makes_a_pool_with_a_shadow_in_it(renderer):
    (picture,) = renderer.render(scenes("spotlight", [0.0]))
    red, green = picture[0].astype(float), picture[1].astype(float)
    dark = red[:4, :4].mean()
    ground = green > 0.25 * red  # the object has no green at all
    rows, _ = np.nonzero(ground & (red > 1.25 * dark))
    assert len(rows) > 100
    middle = red[(rows.min() + rows.max()) // 2] > 1.4 * dark
    (lit,) = np.nonzero(middle)
    # Dark from the left, lit, the shadow, lit again.
    assert 5 <= (~middle[lit[0] : lit[-1]]).sum() <= 20


def test_objects_differ(renderer):
    latents = np.tile(scenes("x", [0.0]), (len(SHAPES), 1))
    pictures = renderer.render(latents, np.arange(len(SHAPES))).astype(float)
    for i in range(len(SHAPES)):
        for j in range(i):
            assert np.abs(pictures[i] - pictures[j]).mean() > 0.5


def test_many_are_drawn_on_several_sheets(renderer):
    latents = np.random.default_rng(1).uniform(-1, 1, (renderer._stage.side**2 + 3, 10))
    pictures = renderer.render(latents)
    assert np.array_equal(pictures[-3:], renderer.render(latents[-3:]))


def test_bad_input(renderer):
    with pytest.raises(ValueError, match=r"`latents` must have shape \(n, 10\).*\(3, 9\)"):
        renderer.render(np.zeros((3, 9)))
    with pytest.raises(ValueError, match="1 of 2 row"):
        renderer.render(np.array([[0.0] * 10, [np.nan] * 10]))
    with pytest.raises(ValueError, match="`classes` must be 2 numbers from 0 to 6"):
        renderer.render(np.zeros((2, 10)), [0, 7])
    with pytest.raises(ValueError, match="`size`"):
        SceneRenderer(4)
    with pytest.raises(ValueError, match="`shapes`"):
        SceneRenderer(16, ())
    assert renderer.render(np.zeros((0, 10))).shape == (0, 3, 48, 48)


def test_a_machine_without_egl_is_told_what_to_install(monkeypatch):
    moderngl = pytest.importorskip("moderngl")

    def fail(**_):
        raise Exception("libEGL.so not loaded")

    monkeypatch.setattr(moderngl, "create_context", fail)
    with pytest.raises(ValueError, match=r"libegl1 and libgl1-mesa-dri.*libEGL\.so not loaded"):
        SceneRenderer(16)
    assert not module.can_render()
