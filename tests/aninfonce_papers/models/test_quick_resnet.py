"""The network of small photographs: its sizes, more features than channels, and bad sizes."""

import pytest
import torch

from aninfonce_papers.models.quick_resnet import QuickResNet


def test_features_can_be_more_than_channels():
    images = torch.rand(2, 3, 24, 24, generator=torch.Generator().manual_seed(0))
    for given, columns in ((None, 32), (48, 48)):
        network = QuickResNet(width=8, features=given, generator=torch.Generator().manual_seed(1))
        assert network.out_features == columns
        assert network(images).shape == (2, columns)
    slim, wide = (
        QuickResNet(width=8, features=given, generator=torch.Generator().manual_seed(1))
        for given in (None, 48)
    )
    assert torch.equal(wide.layers[:6](images), slim.layers(images))


@pytest.mark.parametrize("name", ["width", "features", "in_channels"])
def test_sizes_must_be_positive(name):
    with pytest.raises(ValueError, match=f"`{name}` must be"):
        QuickResNet(**{name: 0})
