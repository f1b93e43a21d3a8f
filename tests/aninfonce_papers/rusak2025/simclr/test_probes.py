"""Readouts of features that hold everything, or nothing."""

import numpy as np
import pytest
import torch
from torch import Generator

from aninfonce.augment import fixed, simclr
from aninfonce.datasets import LabelledImages
from aninfonce_papers.rusak2025.simclr.probes import (
    GREY_HALVES,
    GREY_READOUTS,
    HALVES,
    LAYERS,
    READOUTS,
    apply_to_half,
    embed,
    logistic_probe,
    measure,
    metric_name,
    sgd_probe,
)
from tests.datasets.files import pixels


class Told:
    """Stands in for a network whose features are a function of the images."""

    def __init__(self, function):
        self.features = function

    def project(self, features):
        return features

    def eval(self):
        return self

    def parameters(self):
        return iter([torch.zeros(1)])


def chequered(n, seed):
    """Images of one class each, light or dark red, and far enough from the ends that nothing is cut off."""
    labels = np.random.default_rng(seed).integers(0, 2, n)
    images = np.zeros((n, 3, 4, 4), dtype=np.uint8)
    images[:, 0] = (60 + 60 * labels)[:, None, None]
    images[:, 1, ::2], images[:, 2] = 20, 10
    return LabelledImages(images, labels)


def test_features_that_hold_all_pixels_are_read_to_the_end():
    whole = Told(lambda x: x.flatten(1))
    found = measure(whole, chequered(400, 0), chequered(200, 1), probe=logistic_probe, seed=0)
    assert {found[metric_name(layer, what)] for layer in LAYERS for what in (*READOUTS, "classes")} == {100.0}
    assert found["backbone: average [%]"] == 100.0


@pytest.mark.parametrize("probe", [logistic_probe, sgd_probe])
def test_features_that_hold_nothing_are_read_at_chance(probe):
    """A constant: every answer is the commoner one of the training images, right about half of the time."""
    nothing = Told(lambda x: torch.zeros(len(x), 3))
    found = measure(nothing, chequered(2_000, 0), chequered(2_000, 1), probe=probe, seed=0)
    assert found["backbone: average [%]"] == pytest.approx(50.0, abs=3.0)
    assert found["backbone: classes [%]"] == pytest.approx(50.0, abs=4.0)


def test_the_papers_probe_agrees_with_logistic_regression():
    draw = Generator().manual_seed(0)
    features = 0.01 * torch.randn(1_200, 5, generator=draw) + 3.0
    noise = 0.005 * torch.randn(1_200, generator=draw)
    classes = ((features[:, 0] - 3.0 + noise) > 0).int() + ((features[:, 1] - 3.0) > 0.005).int()
    parts = features[:800], classes[:800], features[800:], classes[800:]
    assert sgd_probe(*parts) == pytest.approx(logistic_probe(*parts), abs=0.04)
    assert logistic_probe(*parts) > 0.65


def test_each_image_is_shown_once_changed_or_not():
    images = pixels(50, (3, 4, 4))
    whole = Told(lambda x: x.flatten(1))
    plain = embed(whole, images)
    shown, applied = apply_to_half(whole, images, plain, fixed("grey"), Generator().manual_seed(0))
    assert 10 < applied.sum() < 40
    assert torch.equal(shown["backbone"][~applied], plain["backbone"][~applied])
    grey = shown["backbone"][applied].view(-1, 3, 16)
    assert torch.equal(grey[:, 0], grey[:, 1])
    assert not torch.equal(shown["backbone"][applied], plain["backbone"][applied])


def test_readouts_are_as_strong_as_the_views_of_training_are_at_most():
    (jitter,) = (step for step in simclr("cifar10").steps if step.name == "jitter")
    drawn = jitter.draw((4_000, 3, 4, 4), Generator().manual_seed(0))
    for name in ("brightness", "contrast", "hue", "saturation"):
        assert float(drawn[f"jitter.{name}"].max()) == pytest.approx(READOUTS[name], abs=0.01)


def test_each_readout_is_made_at_its_strength():
    images = np.full((300, 3, 4, 4), 100, dtype=np.uint8)
    data = LabelledImages(images, np.arange(300) % 2)
    brightest = []

    def features(x):
        brightest.append(float(x.max()))
        return x.flatten(1)

    measure(Told(features), data, data, probe=lambda *_: 0.0, seed=0)
    assert max(brightest) == pytest.approx(1.8 * 100 / 255, abs=0.01)


def test_readouts_at_half_their_strength():
    whole = Told(lambda x: x.flatten(1))
    data = chequered(400, 0), chequered(200, 1)
    found = measure(whole, *data, probe=logistic_probe, seed=0, halves=HALVES)
    assert found.items() >= measure(whole, *data, probe=logistic_probe, seed=0).items()
    weaker = {name for name in found if "half as strong" in name}
    assert len(weaker) == 2 * 5  # all but grey, which has no strength, and the average
    assert {found[name] for name in weaker} == {100.0}


def test_readouts_without_colours():
    images = LabelledImages(pixels(300, (1, 12, 12)), np.arange(300) % 2)
    whole = Told(lambda x: x.flatten(1))
    found = measure(
        whole, images, images, probe=lambda *_: 0.5, seed=0, readouts=GREY_READOUTS, halves=GREY_HALVES
    )
    expected = {"classes", "average", "brightness", "contrast", "crop", "blur"}
    names = {name.removeprefix("backbone: ").removesuffix(" [%]") for name in found if "backbone" in name}
    assert names == expected | {f"{name}, half as strong" for name in expected - {"classes"}}
    assert set(found.values()) == {50.0}
