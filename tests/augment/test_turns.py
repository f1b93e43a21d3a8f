"""Turns by quarters, never alike within a pair."""

import pytest
import torch

from aninfonce.augment import Turn, TurnedViews

IMAGES = torch.rand(12, 3, 6, 6, generator=torch.Generator().manual_seed(0))


def test_turn():
    turned = Turn()(IMAGES, 0)
    for image, before, quarters in zip(
        turned.images, IMAGES, turned.parameters["turn.quarters"], strict=True
    ):
        assert torch.equal(image, before.rot90(int(quarters), (1, 2)))
    assert torch.equal(Turn(p=0.0)(IMAGES, 0).images, IMAGES)
    with pytest.raises(ValueError, match="square"):
        Turn()(torch.rand(2, 3, 6, 7), 0)


def test_views_are_turned_differently():
    source = TurnedViews(IMAGES, seed=1)
    state = source.state()
    seen = source.views(12)
    first, second = (p["turn.quarters"] for p in (seen.parameters, seen.parameters_pos))
    assert bool((first != second).all())
    assert set(first.tolist()) == {0, 1, 2, 3}
    for x, x_pos, a, b in zip(seen.pairs.x, seen.pairs.x_pos, first, second, strict=True):
        assert torch.equal(x.rot90(int(b - a), (1, 2)), x_pos)
    source.restore(state)
    assert torch.equal(source.next(12).x_pos, seen.pairs.x_pos)
