import pytest
import torch
from torch import nn

from aninfonce.encoders import SphereHead
from aninfonce.encoders.embedding import Embedding
from aninfonce.losses import AnInfoNCE, InfoNCE, LpInfoNCE, NTXent
from aninfonce.training.config import LossSettings
from aninfonce.training.model import EncoderWithLoss, build_loss


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
    model = EncoderWithLoss(Embedding(nn.Linear(3, 2), SphereHead()), loss)
    x, x_pos, x_neg = torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 5, 3)
    z = [model.encoder(part) for part in (x, x_pos, x_neg)]
    torch.testing.assert_close(model(x, x_pos, x_neg), loss(*z))


def test_an_embedding_that_is_not_finite_gives_a_nan():
    model = EncoderWithLoss(Embedding(nn.Linear(3, 2), nn.Identity()), AnInfoNCE(2, normalize=False))
    assert torch.isnan(model(torch.full((4, 3), torch.inf), torch.randn(4, 3)))
