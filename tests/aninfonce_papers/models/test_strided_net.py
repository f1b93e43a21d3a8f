"""The network of digits: sizes that it takes, its order of memory, and that it sees where things are."""

import pytest
import torch

from aninfonce_papers.models.strided_net import StridedNet


def drawn(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("side", [8, 27, 28, 32])
def test_it_takes_pictures_of_its_side_alone(side):
    network = StridedNet(5, side=side, in_channels=3, width=8, generator=drawn())
    assert network(torch.zeros(2, 3, side, side)).shape == (2, 5)
    for shape in ((2, 3, side, side + 1), (2, 1, side, side), (2, 3 * side * side)):
        with pytest.raises(ValueError, match="`x` must have"):
            network(torch.zeros(shape))


def test_it_answers_alike_in_both_orders_of_memory():
    images = torch.rand(5, 1, 28, 28, generator=drawn())
    network = StridedNet(10, side=28, width=8, generator=drawn()).eval()
    assert network.order is torch.channels_last
    answers = network(images)
    network.order = torch.contiguous_format
    network.layers.to(memory_format=torch.contiguous_format)
    assert torch.allclose(network(images), answers, atol=1e-5)


def test_it_sees_where_things_are():
    """A square that moves by half the picture changes averages of its maps by nothing, but at the border."""
    images = torch.zeros(3, 1, 32, 32)
    images[0, 0, 4:12, 12:20] = 1
    images[1, 0, 20:28, 12:20] = 1
    network = StridedNet(10, side=32, width=8, generator=drawn()).eval()
    with torch.no_grad():
        top, bottom, empty = network(images)
    assert float((top - bottom).norm()) > 0.5 * float((top - empty).norm())


def test_the_generator_draws_all_weights():
    first, again, other = (StridedNet(10, side=28, generator=drawn(seed)).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[name], again[name]) for name in first)
    weights = [name for name in first if name.endswith("weight") and first[name].ndim > 1]
    assert not any(torch.equal(first[name], other[name]) for name in weights)
