"""Studies of images: published values as printed, the option of other data, and scores of known outcome."""

import json

import numpy as np
import pytest
import torch

from aninfonce.augment import Brightness, simclr
from aninfonce.datasets import LabelledImages
from aninfonce.diagnostics.conditional import step_form
from aninfonce_papers.beyond.augmentation_strength import augmentation
from aninfonce_papers.engine import find_study, plan
from aninfonce_papers.rusak2025.images.domain import METRIC, DetailNet, DomainAccuracy
from aninfonce_papers.rusak2025.images.fig3 import SPREAD_CONCENTRATION
from aninfonce_papers.rusak2025.images.fig6_images import versions
from aninfonce_papers.rusak2025.images.pictures import packed, unpacked
from aninfonce_papers.rusak2025.images.views import readout_accuracy


def printed(study, metric, start=""):
    cells = [cell for cell in find_study(study).experiments("laptop") if cell.name.startswith(start)]
    return [cell.published[metric].value for cell in cells if metric in cell.published]


def test_published_values_of_figure_3():
    assert printed("fig3", "content") == [0.98, 0.99, 0.99, 0.98, 0.94, 0.94]
    assert printed("fig3", "style") == [0.99, 0.99, 0.99, 0.99, 0.03, 0.01]
    assert printed("fig3", "kNN accuracy") == [0.939, 0.938, 0.938, 0.939, 0.666, 0.668]
    assert printed("fig3", "R²") == [0.997, 0.996, 0.774, 0.763]
    # (5.88 − 5)/5 is the largest of the errors; the mean of all ten is far below it.
    for value, error in zip((50, 200), printed("fig3", "error of Λ̂"), strict=True):
        truth = [5 + i * (value - 5) / 9 for i in range(10)]
        relative = [abs(b - a) / a for a, b in zip(truth, SPREAD_CONCENTRATION[value], strict=True)]
        assert error == pytest.approx(sum(relative) / 10, abs=1e-4)


def test_other_data_are_not_compared_with_the_published_values():
    for changes, judged in (({"pairs.dataset": "fashion-mnist"}, False), ({"recipe.steps": 7}, True)):
        for task in plan([find_study("fig3")], "laptop", changes=changes):
            known = task.experiment.known_values("laptop")
            assert all((value.goal != "shown") == judged for value in known.values())


def test_published_values_of_the_appendix():
    assert printed("mnist-augmentations", "class accuracy") == [0.97, 0.94]
    assert printed("mnist-augmentations", "R² of the VAE's latents") == [0.34, 0.44]
    assert printed("mnist-augmentations", "crop readout") == [0.53, 0.59]
    assert printed("mnist-augmentations", "blur readout") == [0.58, 0.63]
    assert printed("domain", METRIC) == [99.1, 99.2]
    assert printed("fig6-images", "class accuracy") == [0.967]


def test_domains_of_other_data_are_not_judged():
    changes = {"pairs.dataset": "fashion-mnist"}
    (task,) = plan([find_study("domain")], "laptop", only=["grey*"], changes=changes)
    assert task.experiment.known_values("laptop")[METRIC].goal == "shown"
    for found in find_study("domain").experiments("laptop"):
        assert found.known_values("laptop")[METRIC].goal == "higher"


@pytest.mark.parametrize(("p", "low", "high"), [(0.0, 0.4, 0.6), (1.0, 0.9, 1.0)])
def test_a_classifier_sees_what_was_changed_and_nothing_else(digits, p, low, high):
    """Of 600 answers by chance, the share right scatters by .02."""
    score = DomainAccuracy(augmentations="mnist", steps=60, batch_size=64, width=8)
    images = digits.images
    found = score.accuracy(images[:1400], images[1400:], Brightness((0.5, 0.5), p=p), seed=0)
    assert low <= found <= high


def test_a_classifier_answers_alike_in_both_orders_of_memory():
    images = torch.rand(5, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    network = DetailNet(3, width=8).eval()
    assert network.order is torch.channels_last
    answers = network(images)
    network.order = torch.contiguous_format
    network.layers.to(memory_format=torch.contiguous_format)
    assert torch.allclose(network(images), answers, atol=1e-5)


def test_readout_is_linear_and_held_out(digits):
    known, asked = digits.take(1_000), LabelledImages(digits.images[1_000:], digits.labels[1_000:])

    def brightness(images):
        return images.mean(dim=(1, 2, 3))[:, None]

    def nothing(images):
        return torch.ones(len(images), 3)

    dimmed = Brightness((0.3, 0.3))
    assert readout_accuracy(brightness, dimmed, known, asked, seed=0) > 0.9
    assert 0.4 < readout_accuracy(nothing, dimmed, known, asked, seed=0) < 0.6


def test_strength_scales_every_part():
    weak, full = (augmentation("crop, flip and blur", strength) for strength in (0.25, 1.0))
    assert weak.steps[0].area == (0.8, 1.0)
    assert weak.steps[2].sigma == (0.1, 0.5)
    whole = {step.name: step for step in simclr("mnist").steps}
    assert [step.name for step in full.steps] == list(whole)
    assert full.steps[0].area == whole["crop"].area
    assert full.steps[2].sigma == whole["blur"].sigma
    assert [step.p for step in full.steps] == [step.p for step in whole.values()]


class FourPixels:
    """A model whose latents are the means of the four quarters of an image, and its images these."""

    def encode(self, images):
        return torch.nn.functional.adaptive_avg_pool2d(images, 2).flatten(1)

    def decode(self, latents):
        return latents.view(-1, 1, 2, 2)


def test_normal_steps_have_the_mean_and_spread_of_the_views(digits):
    """What the control of figure 6 changes is the form of the conditional alone."""
    image = torch.from_numpy(digits.images[0]).float() / 255
    model = FourPixels()
    views, normal = (
        model.encode(versions(model, image, kind, 4_000, generator())).double()
        for kind in ("views", "normal")
    )
    spread = views.std(dim=0)
    assert bool(((views.mean(dim=0) - normal.mean(dim=0)).abs() < 0.1 * spread).all())
    assert torch.allclose(torch.cov((normal / spread).T), torch.cov((views / spread).T), atol=0.15)
    assert step_form(views.numpy()).odd.any()
    assert not step_form(normal.numpy()).odd.any()


def test_pictures_come_back_as_they_were():
    images = torch.rand(3, 1, 28, 28, generator=generator())
    texts = packed(images)
    assert len(json.dumps(texts)) < 3 * 900
    for text, image in zip(texts, images, strict=True):
        assert np.abs(unpacked(text) - image[0].numpy()).max() <= 0.5 / 15 + 1e-6


def generator():
    return torch.Generator().manual_seed(0)
