"""Columns are changed, and the loss of the embedding stays what it was."""

import pytest
import torch
from torch import nn

from aninfonce.alignment.columns import (
    carry_loss,
    carry_potentials,
    last_layer,
    permute_columns,
    use_concentration,
)
from aninfonce.encoders import build_head
from aninfonce.encoders.embedding import Embedding, WithLinear, compose_affine
from aninfonce.losses import AlternatingLoss, AnInfoNCE, EnsembleAnInfoNCE, InfoNCE, LinearDynamics
from aninfonce.similarities import Dot


def drawn(module, seed=0):
    """The module with weights that are all of order one."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(0.5 * torch.randn(weight.shape, generator=generator))
    return module


def test_potentials_give_the_same_numbers_after_a_map():
    loss = AnInfoNCE(3, potential=True)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in loss.potentials.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator))
    h, matrix = torch.randn(7, 3, generator=generator), torch.randn(3, 3, generator=generator)
    centre = torch.randn(3, generator=generator)
    before = loss.potentials[0](h)
    carry_potentials(loss, matrix, centre)
    assert torch.allclose(loss.potentials[0]((h - centre) @ matrix.T), before, atol=1e-4)


LOSSES = {
    "one": lambda: AnInfoNCE(3, potential=True, normalize=False),
    "per anchor": lambda: AnInfoNCE(3, concentration="per-anchor", potential=True, normalize=False),
    "kinds": lambda: AlternatingLoss(EnsembleAnInfoNCE(3, 2, potential=True, normalize=False)),
    "dynamics": lambda: LinearDynamics(3),
    "none": lambda: InfoNCE(Dot(), normalize=False),
}


@pytest.mark.parametrize("name", LOSSES)
def test_the_order_of_columns_changes_no_loss(name):
    x, x_pos = torch.randn(2, 10, 4, generator=torch.Generator().manual_seed(1))
    last, loss, order = drawn(nn.Linear(4, 3)), drawn(LOSSES[name]()), torch.tensor([2, 0, 1])
    embedding = Embedding(last, nn.Identity())
    columns, before = embedding(x), loss(embedding(x), embedding(x_pos)).item()
    permute_columns(embedding, last, loss, order)
    torch.testing.assert_close(embedding(x), columns[:, order])
    assert loss(embedding(x), embedding(x_pos)).item() == pytest.approx(before, rel=1e-5)


def test_the_ends_of_a_box_go_with_their_columns():
    last = drawn(nn.Linear(4, 3))
    embedding = Embedding(last, build_head("box", 3))
    drawn(embedding.head, seed=2)
    x = torch.randn(10, 4, generator=torch.Generator().manual_seed(1))
    columns = embedding(x)
    permute_columns(embedding, last, InfoNCE(Dot()), torch.tensor([1, 2, 0]))
    torch.testing.assert_close(embedding(x), columns[:, [1, 2, 0]])


@pytest.mark.parametrize("name", ["per anchor", "dynamics"])
def test_a_loss_is_carried_along_any_map(name):
    generator = torch.Generator().manual_seed(1)
    z, z_pos = torch.randn(2, 10, 3, generator=generator)
    matrix, centre = torch.randn(3, 3, generator=generator) + 2 * torch.eye(3), torch.randn(3)
    loss = drawn(LOSSES[name]())
    before = loss(z, z_pos).item()
    carry_loss(loss, matrix, centre)
    assert loss((z - centre) @ matrix.T, (z_pos - centre) @ matrix.T).item() == pytest.approx(
        before, rel=1e-4
    )


def test_a_last_layer_is_found_or_appended():
    x = torch.randn(5, 4)
    ends, bends = nn.Sequential(nn.Tanh(), nn.Linear(4, 3)), nn.Sequential(nn.Linear(4, 3), nn.Tanh())
    assert last_layer(Embedding(ends, nn.Identity()), x, 3) is ends[1]
    embedding = Embedding(bends, nn.Identity())
    before = embedding(x)
    last = last_layer(embedding, x, 3)
    assert isinstance(embedding.body, WithLinear)
    torch.testing.assert_close(embedding(x), before)
    compose_affine(last, 2 * torch.eye(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64))
    torch.testing.assert_close(embedding(x), 2 * (before - 1))


def test_numbers_take_the_place_of_one_concentration_only():
    values = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    kinds, own = LOSSES["kinds"](), drawn(LOSSES["per anchor"]())
    use_concentration(kinds, values)
    torch.testing.assert_close(kinds.ensemble.concentration.detach(), values)
    before = own.similarity.raw.clone()
    use_concentration(own, values)
    torch.testing.assert_close(own.similarity.raw, before)
    use_concentration(LOSSES["none"](), values)
