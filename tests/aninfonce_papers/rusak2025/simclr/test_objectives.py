"""Losses on one layer, on two, and on several kinds of pairs."""

import pytest
import torch
from torch import Generator

from aninfonce.augment import GroupedViews
from aninfonce.encoders import ResNet
from aninfonce.losses import InfoNCE
from aninfonce_papers.rusak2025.cifar10 import SIZES
from aninfonce_papers.rusak2025.simclr.network import Network, build_network, embedding_dim
from aninfonce_papers.rusak2025.simclr.objectives import (
    IDEAS,
    PUBLISHED_METHODS,
    LevelsLoss,
    build_loss,
    build_source,
)
from tests.datasets.files import pixels


def settings(method, **changes):
    return {"method": method, **SIZES["smoke"], **changes}


@pytest.mark.parametrize("method", [*PUBLISHED_METHODS, *IDEAS])
def test_network_and_loss_fit_each_other(method):
    network, loss = build_network(settings(method), 3, seed=0), build_loss(settings(method), seed=0)
    images = torch.rand(12, 3, 32, 32, generator=Generator().manual_seed(0))
    z = network(images)
    assert z.shape == (12, network.out_features)
    loss(z[:6], z[6:]).backward()
    assert all(parameter.grad is not None for parameter in [*network.parameters(), *loss.parameters()])
    last = network.project(network.features(images))
    assert last.shape == (12, embedding_dim(settings(method)))
    lengths = last.norm(dim=1)
    assert torch.allclose(lengths, torch.ones(12)) == (method != "AnInfoNCE without ℓ2")


def test_aninfonce_starts_as_infonce():
    z0, z1 = torch.nn.functional.normalize(torch.randn(2, 9, 8, generator=Generator().manual_seed(0)), dim=2)
    one, other = (build_loss(settings(name), seed=0)(z0, z1) for name in ("InfoNCE", "AnInfoNCE"))
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


def test_only_the_idea_of_groups_has_views_of_several_kinds():
    grouped = {
        method: isinstance(build_source(settings(method), pixels(8), 0, (0, 1)), GroupedViews)
        for method in (*PUBLISHED_METHODS, *IDEAS)
    }
    assert [method for method, is_grouped in grouped.items() if is_grouped] == ["a Λ̂ per augmentation group"]
