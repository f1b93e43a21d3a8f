"""Augmentations: seeded, recorded, and doing what they say."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from aninfonce.augment import (
    Blur,
    Brightness,
    Compose,
    Contrast,
    Crop,
    Flip,
    Grey,
    Hue,
    Jitter,
    Saturation,
    fixed,
    readouts,
    seeded,
    simclr,
)
from aninfonce.augment.presets import NAMES


def photos(n=32, channels=3, side=32, seed=0):
    """Smooth random images."""
    coarse = torch.rand(n, channels, 6, 6, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.interpolate(coarse, (side, side), mode="bilinear")


@pytest.mark.parametrize(("kind", "channels"), [("mnist", 1), ("cifar10", 3)])
def test_simclr_is_seeded_recorded_and_can_be_repeated(kind, channels):
    images, before = photos(channels=channels), torch.get_rng_state()
    augmentation = simclr(kind)
    first, again, other = (augmentation(images, seed) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first.images, again.images)
    assert not torch.equal(first.images, other.images)
    assert first.images.shape == images.shape
    assert first.images.min() >= 0
    assert first.images.max() <= 1
    assert all(len(values) == len(images) for values in first.parameters.values())
    assert torch.equal(augmentation.apply(images, first.parameters), first.images)
    assert {key.split(".")[0] for key in first.parameters} == {step.name for step in augmentation.steps}


def test_an_image_depends_on_its_own_parameters_only():
    images, augmentation = photos(), simclr()
    whole = augmentation(images, 0)
    for row in range(4):
        own = {key: values[row : row + 1] for key, values in whole.parameters.items()}
        torch.testing.assert_close(augmentation.apply(images[row : row + 1], own)[0], whole.images[row])


def test_bytes_and_floats_give_the_same():
    pixels = (photos() * 255).byte()
    torch.testing.assert_close(simclr()(pixels, 0).images, simclr()(pixels.float() / 255, 0).images)
    torch.testing.assert_close(simclr()(pixels.numpy(), 0).images, simclr()(pixels, 0).images)


def test_probabilities_are_kept():
    drawn = simclr().draw((20_000, 3, 32, 32), torch.Generator().manual_seed(0))
    expected = {"crop": 1.0, "flip": 0.5, "jitter": 0.8, "grey": 0.2, "blur": 0.5}
    for name, p in expected.items():
        assert float(drawn[f"{name}.applied"].float().mean()) == pytest.approx(p, abs=0.02)
    brightness = drawn["jitter.brightness"]
    assert float(brightness.min()) == pytest.approx(0.2, abs=0.01)
    assert float(brightness.max()) == pytest.approx(1.8, abs=0.01)
    assert float(drawn["jitter.hue"].abs().max()) == pytest.approx(0.2, abs=0.01)
    orders = torch.unique(drawn["jitter.order"], dim=0, return_counts=True)[1]
    assert len(orders) == 24
    assert int(orders.min()) > 600


def test_crops_fill_the_range_of_areas_and_stay_inside():
    left, top, wide, high = Crop().draw((20_000, 1, 32, 32), torch.Generator().manual_seed(0))["crop.box"].T
    area = (wide * high) / 32**2
    assert 0.17 < float(area.min()) < 0.22
    assert float(area.max()) == 1
    assert int(left.min()) == int(top.min()) == 0
    assert int((left + wide).max()) == int((top + high).max()) == 32
    ratio = wide / high
    assert 0.7 < float(ratio.min()) < 0.8 < 1.25 < float(ratio.max()) < 1.45


def test_a_crop_is_the_part_in_its_box():
    # Columns count up, so a crop is a ramp between the first and the last column of the box.
    images = (torch.arange(32.0) / 31).expand(6, 1, 32, 32)
    done = Crop()(images, 3)
    left, _, wide, _ = done.parameters["crop.box"].T
    torch.testing.assert_close(done.images[:, 0, 5, 0], left / 31, atol=1e-4, rtol=0)
    torch.testing.assert_close(done.images[:, 0, 5, -1], (left + wide - 1) / 31, atol=1e-4, rtol=0)
    whole = Crop((1.0, 1.0), (1.0, 1.0))(photos(), 0).images
    torch.testing.assert_close(whole, photos(), atol=1e-4, rtol=0)


def test_a_crop_to_another_size_shows_the_same_part():
    ramp = torch.linspace(0, 1, 32).expand(6, 1, 32, 32)
    usual, smaller = (Crop(size=size)(ramp, 3) for size in (None, 16))
    assert torch.equal(usual.parameters["crop.box"], smaller.parameters["crop.box"])
    assert smaller.images.shape == (6, 1, 16, 16)
    # Corners stay corners, so that the part's two edges are the same.
    torch.testing.assert_close(smaller.images[..., [0, -1]], usual.images[:, :, :16, [0, -1]])
    views = simclr(size=20)(torch.rand(3, 3, 32, 32), 0)
    assert views.images.shape == (3, 3, 20, 20)


@pytest.mark.parametrize("change", [Brightness, Contrast, Saturation, Hue])
def test_a_neutral_factor_changes_nothing(change):
    neutral = change.neutral
    torch.testing.assert_close(change((neutral, neutral))(photos(), 0).images, photos(), atol=1e-4, rtol=0)


def test_changes_of_colour_by_hand():
    images = photos()
    weights = torch.tensor([0.299, 0.587, 0.114])[:, None, None]
    grey = (images * weights).sum(dim=1, keepdim=True)
    close = {"atol": 1e-3, "rtol": 0}
    torch.testing.assert_close(fixed("grey")(images, 0).images, grey.expand_as(images), **close)
    brighter = fixed("brightness", 1.3)(images, 0).images
    torch.testing.assert_close(brighter, (1.3 * images).clamp(0, 1), **close)
    mean = grey.mean(dim=(2, 3), keepdim=True)
    contrast = fixed("contrast", 0.5)(images, 0).images
    torch.testing.assert_close(contrast, 0.5 * images + 0.5 * mean, **close)
    faded = fixed("saturation", 0.5)(images, 0).images
    torch.testing.assert_close(faded, 0.5 * images + 0.5 * grey, **close)
    # A third of a turn makes red what blue or green was.
    turned = fixed("hue", 1 / 3)(images, 0).images
    torch.testing.assert_close(turned, images.roll(1, dims=1), **close)


def test_flips_and_blurs():
    images = photos()
    assert torch.equal(Flip()(images, 0).images, images.flip(3))
    variance = [fixed("blur", sigma)(images, 0).images.var() for sigma in (0.3, 1.0, 2.0)]
    assert images.var() > variance[0] > variance[1] > variance[2]


@pytest.mark.parametrize("name", NAMES)
def test_each_alone_changes_every_image(name):
    images = photos()
    done = fixed(name)(images, 0)
    assert bool(done.parameters[f"{name}.applied"].all())
    assert bool(((done.images - images).abs().amax(dim=(1, 2, 3)) > 0.01).all())
    again = seeded(fixed(name), 5)
    assert torch.equal(again(images.numpy()), again(images))


def test_readouts_suit_the_channels():
    assert set(readouts(3)) == set(NAMES)
    for change in readouts(1).values():
        assert change(photos(channels=1), 0).images.shape == (32, 1, 32, 32)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Flip()(torch.rand(3, 8, 8), 0), r"`images` must have shape \(N, 1 or 3, H, W\)"),
        (lambda: Flip()(np.zeros((2, 1, 8, 8), int), 0), "uint8 or floating-point"),
        (lambda: Flip()(255 * torch.rand(2, 1, 8, 8), 0), "must lie from 0 to 1"),
        (lambda: Flip()(torch.full((2, 1, 8, 8), torch.nan), 0), "must lie from 0 to 1"),
        (lambda: Grey()(photos(channels=1), 0), "`images` must have 3 channels for 'grey', got 1"),
        (lambda: Flip(p=1.5), "`p` must be at most 1"),
        (lambda: Crop((0.5, 0.2)), "`area` must be"),
        (lambda: Crop((0.5, 1.2)), "`area` must be at most 1"),
        (lambda: Crop(p=0.5, size=8), "`size` goes with `p` = 1"),
        (lambda: simclr(size=0), "`size` must be"),
        (lambda: Blur(kernel=4), "`kernel` must be odd"),
        (lambda: Jitter(hue=0.7), "`hue` must be at most 0.5"),
        (lambda: Compose([Flip(), Flip()]), "different names"),
        (lambda: fixed("flip", 2.0), "`strength` must be omitted"),
        (lambda: fixed("twirl"), "`name` must be one of 'crop'"),
        (lambda: simclr("kitti"), "`kind` must be one of"),
        (lambda: readouts(2), "`channels` must be 1 or 3"),
    ],
)
def test_bad_input_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_kornia_is_imported_when_the_first_image_is_changed():
    code = (
        "import sys, aninfonce.augment, aninfonce.datasets, aninfonce_papers.worlds.vae\n"
        "print([name for name in ('kornia', 'PIL') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
