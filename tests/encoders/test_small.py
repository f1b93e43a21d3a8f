"""The network for small pictures."""

import pytest
import torch
from torch import Generator

from aninfonce.encoders import SmallConvNet


@pytest.mark.parametrize("size", [24, 32, 48, 65])
def test_any_size(size):
    encoder = SmallConvNet(7, width=4).eval()
    embedding = encoder(torch.rand(2, 3, size, size))
    assert embedding.shape == (2, 7)


def test_weights_come_from_the_generator():
    first, second, other = (
        SmallConvNet(3, width=4, generator=Generator().manual_seed(seed)).layers[0].weight
        for seed in (0, 0, 1)
    )
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_where_things_are_reaches_the_embedding():
    """Averaged maps would give the same for a dot anywhere in the middle."""
    pictures = torch.zeros(2, 1, 48, 48)
    pictures[0, 0, 12, 12] = pictures[1, 0, 36, 36] = 100.0
    encoder = SmallConvNet(5, in_channels=1, width=4, generator=Generator().manual_seed(0)).eval()
    first, second = encoder(pictures)
    assert not torch.allclose(first, second, atol=1e-3)


def test_bad_input():
    with pytest.raises(ValueError, match=r"\(N, 3, H, W\)"):
        SmallConvNet(2)(torch.zeros(2, 1, 24, 24))
    with pytest.raises(ValueError, match="`width`"):
        SmallConvNet(2, width=0)
