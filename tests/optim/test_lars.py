import torch

from aninfonce.encoders import MLP
from aninfonce.losses import AnInfoNCE
from aninfonce.optim.lars import Lars
from aninfonce.optim.optimizers import build_optimizers
from aninfonce.training import Recipe


def test_steps_by_hand():
    """Two steps of one matrix and one bias, in float64."""
    draw = torch.Generator().manual_seed(0)
    start, bias = torch.randn(3, 4, generator=draw).double(), torch.randn(3, generator=draw).double()
    gradients = torch.randn(2, 3, 4, generator=draw).double()
    weight, offset = torch.nn.Parameter(start.clone()), torch.nn.Parameter(bias.clone())
    optimizer = Lars([weight, offset], lr=0.5, momentum=0.9, weight_decay=0.01, trust=0.02)
    expected, velocity, offset_velocity = start.clone(), torch.zeros(3, 4).double(), torch.zeros(3).double()
    for gradient in gradients:
        weight.grad, offset.grad = gradient.clone(), gradient[:, 0].clone()
        optimizer.step()
        decayed = gradient + 0.01 * expected
        velocity = 0.9 * velocity + 0.02 * expected.norm() / decayed.norm() * decayed
        offset_velocity = 0.9 * offset_velocity + gradient[:, 0]
        expected, bias = expected - 0.5 * velocity, bias - 0.5 * offset_velocity
    torch.testing.assert_close(weight.detach(), expected)
    torch.testing.assert_close(offset.detach(), bias)


def test_weights_of_zero_move():
    weight = torch.nn.Parameter(torch.zeros(2, 2))
    weight.grad = torch.ones(2, 2)
    Lars([weight], lr=0.1).step()
    assert torch.allclose(weight, torch.full((2, 2), -0.1))


def test_lars_moves_the_encoder_and_adam_the_concentration():
    encoder, loss = MLP(3, 2, width=8), AnInfoNCE(2)
    adam, lars = build_optimizers(encoder, loss, Recipe(optimizer="lars", lars_lr=0.6))
    assert isinstance(lars, Lars)
    assert len(lars.param_groups[0]["params"]) == len(list(encoder.parameters()))
    assert lars.param_groups[0]["initial_lr"] == 0.6
    assert [p is loss.similarity.raw for p in adam.param_groups[0]["params"]] == [True]
