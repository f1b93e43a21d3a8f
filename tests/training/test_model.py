import pytest
import torch
from torch import nn

from aninfonce.encoders import MLP, KittiConvNet, SphereHead, resnet
from aninfonce.encoders.embedding import Embedding, ensure_final_linear, final_linear
from aninfonce.losses import AnInfoNCE, InfoNCE, LpInfoNCE, NTXent
from aninfonce.training.config import LossSettings
from aninfonce.training.model import Contrast, build_loss


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


@pytest.mark.parametrize(
    ("name", "options", "kind"),
    [
        ("aninfonce", {"initial": 2.0}, AnInfoNCE),
        ("infonce", {"temperature": 0.5}, InfoNCE),
        ("lp", {"p": 1}, LpInfoNCE),
        ("nt-xent", {}, NTXent),
    ],
)
def test_losses_by_name(name, options, kind):
    loss = build_loss(LossSettings(name=name, options=options), 3, torch.Generator())
    assert isinstance(loss, kind)
    assert loss.gather_distributed


def test_one_starting_value_a_column():
    settings = LossSettings(options={"initial": [1.0, 2.0, 4.0]})
    loss = build_loss(settings, 3, torch.Generator())
    torch.testing.assert_close(loss.concentration.detach(), torch.tensor([1.0, 2.0, 4.0]))


def test_hard_negatives_reach_the_loss():
    loss = AnInfoNCE(2, normalize=False)
    model = Contrast(Embedding(nn.Linear(3, 2), SphereHead()), loss)
    x, x_pos, x_neg = torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 5, 3)
    z = [model.encoder(part) for part in (x, x_pos, x_neg)]
    torch.testing.assert_close(model(x, x_pos, x_neg), loss(*z))


def test_an_embedding_that_is_not_finite_gives_a_nan():
    model = Contrast(Embedding(nn.Linear(3, 2), nn.Identity()), AnInfoNCE(2, normalize=False))
    assert torch.isnan(model(torch.full((4, 3), torch.inf), torch.randn(4, 3)))
