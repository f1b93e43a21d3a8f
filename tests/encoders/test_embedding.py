import pytest
import torch
from torch import nn

from aninfonce.encoders import MLP, KittiConvNet, resnet
from aninfonce.encoders.embedding import ensure_final_linear, final_linear


@pytest.mark.parametrize(
    ("encoder", "x"),
    [
        (MLP(3, 2, width=4), torch.randn(4, 3)),
        (KittiConvNet(), torch.randn(2, 1, 64, 64)),
        (resnet(18, stem="cifar", out_features=4), torch.randn(2, 3, 32, 32)),
    ],
)
def test_the_final_linear_layer_is_found(encoder, x):
    layer = final_linear(encoder, x)
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.fill_(3.0)
        assert torch.equal(encoder.eval()(x), torch.full((len(x), layer.out_features), 3.0))


@pytest.mark.parametrize(
    "encoder", [nn.Sequential(nn.Linear(3, 2), nn.Tanh()), nn.Sequential(nn.Linear(3, 2, bias=False))]
)
def test_an_encoder_without_one_gets_one_that_changes_nothing(encoder):
    x = torch.randn(5, 3)
    assert final_linear(encoder, x) is None
    extended = ensure_final_linear(encoder, x, 2)
    torch.testing.assert_close(extended(x), encoder(x))
    assert final_linear(extended, x) is extended[1]


def test_looking_for_it_leaves_the_mode_and_no_hooks():
    encoder = MLP(3, 2, width=4).train()
    final_linear(encoder, torch.randn(4, 3))
    assert encoder.training
    assert not any(module._forward_hooks for module in encoder.modules())
