import pytest
import torch
from torch import nn

from aninfonce.encoders import KittiConvNet, build_encoder


def test_architecture():
    encoder = KittiConvNet()
    shapes = [
        tuple(layer.weight.shape) for layer in encoder.layers if isinstance(layer, nn.Conv2d | nn.Linear)
    ]
    assert shapes == [
        (32, 1, 4, 4),
        (32, 32, 4, 4),
        (64, 32, 4, 4),
        (64, 64, 4, 4),
        (256, 64, 4, 4),
        (10, 256),
    ]
    assert sum(isinstance(layer, nn.ReLU) for layer in encoder.layers) == 5
    assert sum(parameter.numel() for parameter in encoder.parameters()) == (
        544 + 16_416 + 32_832 + 65_600 + 262_400 + 2_570
    )


def test_kaiming_normal_weights_and_zero_biases():
    encoder = KittiConvNet(generator=torch.Generator().manual_seed(0))
    for layer in encoder.layers:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            fan_in = layer.weight[0].numel()
            n = layer.weight.numel()
            # the relative error of a standard deviation is 1/√(2n); five of them
            assert layer.weight.std().item() == pytest.approx((2 / fan_in) ** 0.5, rel=5 / (2 * n) ** 0.5)
            assert (layer.bias == 0).all()


@pytest.mark.parametrize("head", ["none", "box", "sphere"])
def test_shapes_gradients_and_seeds(head):
    generators = [torch.Generator().manual_seed(3) for _ in range(2)]
    before = torch.get_rng_state()
    first, again = (
        build_encoder("kitti-conv", out_features=6, head=head, in_channels=2, generator=g) for g in generators
    )
    assert torch.equal(before, torch.get_rng_state())
    x = torch.randn(3, 2, 64, 64)
    out = first(x)
    assert out.shape == (3, 6)
    assert torch.equal(out, again(x))
    out.square().sum(dim=1)[0].add(out[:, 0].sum()).backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in first.parameters())


@pytest.mark.parametrize("shape", [(3, 64, 64), (3, 3, 64, 64), (3, 1, 32, 32)])
def test_bad_input_is_refused_by_name(shape):
    with pytest.raises(ValueError, match=r"`x` must have shape \(N, 1, 64, 64\), got \(3, "):
        KittiConvNet()(torch.zeros(shape))
