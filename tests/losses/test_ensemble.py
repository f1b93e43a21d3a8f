"""Kinds of pairs with a Λ̂ each: the losses that a loss consists of."""

import pytest
import torch

from aninfonce.losses import AlternatingLoss, AnInfoNCE, EnsembleAnInfoNCE, InfoNCE
from aninfonce.losses.ensemble import members
from aninfonce.training.config import LossSettings
from aninfonce.training.model import build_loss


def test_members_are_the_losses_with_a_concentration_of_their_own():
    alone = AnInfoNCE(3)
    assert members(alone) == [alone]
    assert members(InfoNCE()) == []
    parts = EnsembleAnInfoNCE(3, 2)
    assert members(AlternatingLoss(parts)) == list(parts.losses)


@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_the_option_gives_each_kind_a_loss(kinds):
    settings = LossSettings(name="aninfonce", options={"kinds": kinds, "potential": True})
    loss = build_loss(settings, 4, torch.Generator().manual_seed(0))
    assert isinstance(loss, AlternatingLoss) == (kinds > 1)
    parts = members(loss)
    assert len(parts) == kinds
    assert all(part.concentration.shape == (4,) and len(part.potentials) == 1 for part in parts)
    # The weights of their potentials are drawn, and each has its own.
    weights = [next(part.potentials.parameters()) for part in parts]
    assert len({id(weight) for weight in weights}) == kinds


def test_each_kind_is_scored_by_its_own():
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(12, 3, generator=generator)
    z_pos = z + 0.1 * torch.randn(12, 3, generator=generator)
    loss = AlternatingLoss(EnsembleAnInfoNCE(3, 2, normalize=False))
    one, other = members(loss)
    with torch.no_grad():
        one.similarity.raw.fill_(3.0)
    expected = (one(z[0::2], z_pos[0::2]) + other(z[1::2], z_pos[1::2])) / 2
    torch.testing.assert_close(loss(z, z_pos), expected)
