import pytest
import torch

from aninfonce.augment import Compose, Crop, GroupedViews, simclr
from tests.datasets.files import pixels


def test_views_of_a_kind_share_what_they_should():
    views = GroupedViews(pixels(60), simclr(), seed=0).views(60)
    kind = torch.arange(60) % 3

    def same(name):
        rows = (views.parameters[name] == views.parameters_pos[name]).view(60, -1).all(dim=1)
        return [float(rows[kind == number].float().mean()) for number in range(3)]

    for name, always in (("jitter.brightness", 1), ("jitter.order", 1), ("crop.box", 2), ("blur.sigma", 2)):
        shares = same(name)
        assert shares[always] == 1.0
        assert max(share for number, share in enumerate(shares) if number != always) < 0.5
    torch.testing.assert_close(
        simclr().apply(torch.as_tensor(pixels(60))[views.rows] / 255, views.parameters_pos), views.pairs.x_pos
    )


def test_steps_that_there_are_not_are_refused():
    with pytest.raises(ValueError, match=r"`shared` must name steps .*'blur', 'crop', 'flip'.*got \['hue'\]"):
        GroupedViews(pixels(4, (1, 8, 8)), simclr("mnist"), shared=[("crop",), ("hue",)])


def boxes_shared(parameters, others):
    return (parameters["crop.box"] == others["crop.box"]).flatten(1).all(dim=1)


@pytest.mark.parametrize("rank", [0, 1])
def test_kinds_take_turns_in_every_process(rank):
    views = GroupedViews(pixels(40), simclr(), seed=0, shard=(rank, 2)).views(20)
    shared = boxes_shared(views.parameters, views.parameters_pos)
    assert shared.tolist() == [row % 3 == 2 for row in range(10)]


def test_kinds_take_turns_across_the_chunks_of_an_evaluation():
    source = GroupedViews(torch.rand(1_100, 1, 8, 8), Compose([Crop()]), shared=[(), ("crop",), ()])
    pairs = source.fresh(1_100)
    same = (pairs.x == pairs.x_pos).flatten(1).all(dim=1)
    sharing = torch.arange(1_100) % 3 == 1
    assert same[sharing].all()
    assert same[~sharing].float().mean() < 0.1  # two crops of few pixels may be the same
