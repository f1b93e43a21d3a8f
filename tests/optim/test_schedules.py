import torch

from aninfonce.encoders import MLP
from aninfonce.losses import AnInfoNCE
from aninfonce.optim.optimizers import build_optimizers
from aninfonce.optim.schedules import batch_size_at, rate_factor, set_rates
from aninfonce.training import Recipe


def test_rates_rise_then_fall_to_zero():
    recipe = Recipe(steps=200, warmup=20)
    factors = [rate_factor(step, recipe) for step in range(201)]
    assert factors[0] == 1 / 20
    assert max(factors) == factors[19]
    assert factors[200] == 0.0
    assert rate_factor(150, Recipe(name="paper")) == 1.0
    cosine = Recipe(steps=200, decay="cosine", warmup=0)
    assert abs(rate_factor(100, cosine) - 0.5) < 1e-12


def test_set_rates_scales_every_group():
    encoder, loss, recipe = MLP(3, 2, width=8), AnInfoNCE(2), Recipe(steps=100, warmup=10)
    optimizers = build_optimizers(encoder, loss, recipe)
    set_rates(optimizers, 50, recipe)
    rates = [group["lr"] for optimizer in optimizers for group in optimizer.param_groups]
    assert rates == [0.5 * recipe.adam_lr, 0.5 * recipe.concentration_lr, 0.5 * recipe.muon_lr]


def test_batches_grow():
    recipe = Recipe(steps=10, batch_size=4, growth=((0.3, 8), (0.6, 16)))
    assert [batch_size_at(step, recipe) for step in (0, 2, 3, 6, 9)] == [4, 4, 8, 16, 16]
    assert torch.tensor(batch_size_at(0, Recipe())) == 512
