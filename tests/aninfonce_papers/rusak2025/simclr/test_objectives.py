"""Losses on one layer, on two, and on several kinds of pairs."""

import numpy as np
import pytest
import torch
from torch import Generator

from aninfonce.augment import GroupedViews
from aninfonce.datasets import LabelledImages
from aninfonce.encoders import ResNet
from aninfonce.losses import InfoNCE
from aninfonce_papers.rusak2025.cifar10 import experiments
from aninfonce_papers.rusak2025.simclr.experiment import BESIDE, IDEAS, PUBLISHED_METHODS
from aninfonce_papers.rusak2025.simclr.network import BesideLoss, LevelsLoss, Network
from tests.datasets.files import pixels

EXPERIMENTS = {experiment.name: experiment for experiment in experiments("smoke")}


def build_loss(method):
    experiment = EXPERIMENTS[method]
    return experiment.loss.module(experiment.encoder.dim, seed=0)


@pytest.mark.parametrize("method", [*PUBLISHED_METHODS, *IDEAS, BESIDE])
def test_network_and_loss_fit_each_other(method):
    encoder = EXPERIMENTS[method].encoder
    network, loss = encoder.network(3, seed=0), build_loss(method)
    images = torch.rand(12, 3, 32, 32, generator=Generator().manual_seed(0))
    z = network(images)
    assert z.shape == (12, network.out_features)
    loss(z[:6], z[6:]).backward()
    assert all(parameter.grad is not None for parameter in [*network.parameters(), *loss.parameters()])
    last = network.project(network.features(images))
    assert last.shape == (12, encoder.dim + encoder.beside)
    lengths = last[:, encoder.beside :].norm(dim=1)
    assert torch.allclose(lengths, torch.ones(12)) == (method != "AnInfoNCE without ℓ2")


def test_aninfonce_starts_as_infonce():
    z0, z1 = torch.nn.functional.normalize(torch.randn(2, 9, 8, generator=Generator().manual_seed(0)), dim=2)
    one, other = (build_loss(name)(z0, z1) for name in ("InfoNCE", "AnInfoNCE"))
    torch.testing.assert_close(one, other)


def test_levels_see_their_own_columns():
    network = Network(ResNet(18, stem="cifar-half", width=8), hidden=5, dim=3, levels=True).eval()
    images = torch.rand(4, 3, 16, 16, generator=Generator().manual_seed(0))
    z, features = network(images), network.features(images)
    torch.testing.assert_close(z[:, :5], network.projector[0](features))
    torch.testing.assert_close(z[:, 5:], network.project(features))
    first, second = InfoNCE(normalize=False), InfoNCE(temperature=0.5)
    total = LevelsLoss(5, first, second)(z[:2], z[2:])
    torch.testing.assert_close(total, first(z[:2, :5], z[2:, :5]) + second(z[:2, 5:], z[2:, 5:]))


def test_the_second_projector_sees_only_pairs_that_share_their_colours():
    images = LabelledImages(pixels(9), np.zeros(9, dtype=np.int64))
    cell = EXPERIMENTS[BESIDE]
    views = cell.pairs.open(images, 0)
    drawn = views.views(9)
    alike = (drawn.parameters["jitter.hue"] == drawn.parameters_pos["jitter.hue"]).tolist()
    assert alike == [False, False, True] * 3
    assert not (drawn.parameters["crop.box"] == drawn.parameters_pos["crop.box"]).all(dim=1).any()

    z0, z1 = torch.randn(2, 9, 5, generator=Generator().manual_seed(0))
    beside, top = InfoNCE(normalize=False), InfoNCE(temperature=0.5)
    third = torch.tensor([2, 5, 8])
    rest = torch.tensor([0, 1, 3, 4, 6, 7])
    expected = beside(z0[third, :2], z1[third, :2]) + top(z0[rest, 2:], z1[rest, 2:])
    torch.testing.assert_close(BesideLoss(2, beside, top, 3)(z0, z1), expected)
    with pytest.raises(ValueError, match="`every` must be at least 2"):
        BesideLoss(2, beside, top, 1)


def test_only_the_idea_of_groups_has_views_of_several_kinds():
    images = LabelledImages(pixels(8), np.zeros(8, dtype=np.int64))
    grouped = {
        method: isinstance(EXPERIMENTS[method].pairs.open(images, 0), GroupedViews)
        for method in (*PUBLISHED_METHODS, *IDEAS)
    }
    assert [method for method, is_grouped in grouped.items() if is_grouped] == ["a Λ̂ per augmentation group"]
