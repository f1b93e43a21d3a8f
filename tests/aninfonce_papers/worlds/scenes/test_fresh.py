"""Scenes drawn while training: the law of their anchors, and a stream that resumes."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Generator

from aninfonce_papers.worlds.scenes import FreshScenes, Groups, scene_process

COUNT, SCALE = 16, 0.15
SHARED, FREE = [0, 1, 2, 6, 7, 8, 9], [3, 4, 5]


def anchors(groups, **options):
    z = Groups(COUNT, SCALE, **options).sample(COUNT * groups, Generator().manual_seed(0))
    return z.view(groups, COUNT, 10)


def test_each_anchor_by_itself_is_uniform():
    """One of each group: independent draws. Ten tests, of which one fails by chance in 10 000 cases."""
    first = anchors(4_000, alone=0.5)[:, 0]
    for column in first.T:
        assert stats.kstest(column.numpy(), stats.uniform(-1, 2).cdf).pvalue > 1e-5


def test_two_of_a_group_differ_as_the_corollary_asks():
    """Λ⁻ = 1 / (2 scale²) in what they share, away from the walls, and none in rotation."""
    z = anchors(4_000, alone=0.0)
    inside = z[:, 0, SHARED].abs() < 0.4
    steps = (z[:, 0] - z[:, 1])[:, SHARED][inside]
    # The standard error of a variance of n normal draws is its 2/n-th share's root: five of these.
    expected = 2 * SCALE**2
    assert float(steps.var()) == pytest.approx(expected, rel=5 * (2 / len(steps)) ** 0.5)
    turned = np.corrcoef(z[:, 0, 3], z[:, 1, 3])[0, 1]
    assert abs(turned) < 4.5 / 4_000**0.5
    assert stats.kstest(z[:, 1, 4].numpy(), stats.uniform(-1, 2).cdf).pvalue > 1e-5


def test_some_are_alone_and_groups_are_strangers():
    z = anchors(2_000, alone=0.25)
    together = (z[:, 0] - z[:, 1])[:, SHARED].abs().amax(dim=1) < 6 * 2**0.5 * SCALE
    # That two at random are so close in all seven has the chance .001 or so.
    assert float(together.float().mean()) == pytest.approx(0.75, abs=0.15)
    alone = anchors(2_000, alone=1.0)
    assert abs(np.corrcoef(alone[:, 0, 0], alone[:, 1, 0])[0, 1]) < 4.5 / 2_000**0.5
    assert abs(np.corrcoef(z[:-1, 0, 0], z[1:, 0, 0])[0, 1]) < 4.5 / 2_000**0.5


@pytest.mark.parametrize(
    ("options", "named"), [({"count": 0}, "count"), ({"scale": 0}, "scale"), ({"alone": 2}, "alone")]
)
def test_bad_groups_are_refused_by_name(options, named):
    with pytest.raises(ValueError, match=f"`{named}`"):
        Groups(**options)


def pictures(z):
    """Stand in for a renderer: the first three latents as the colour of one pixel."""
    return ((z[:, :3] + 1) * 127).round().to(torch.uint8).numpy()[:, :, None, None]


def source(**options):
    options = {"bulk": 64, "uses": 2, "groups": Groups(4, 0.01, alone=0.0), **options}
    return FreshScenes(scene_process("normal", 0.1, size=None), pictures, 3, **options)


def colours(batch):
    return batch.x[:, :, 0, 0]


def test_a_restored_stream_goes_on_with_the_same_pairs():
    whole = source()
    for _ in range(9):  # into the second bulk
        whole.next(16)
    whole.fresh(5)
    state = {name: value.clone() for name, value in whole.state().items()}
    expected = [whole.next(16).x_pos for _ in range(10)] + [whole.fresh(5).x]
    again = source()
    again.next(16)
    again.restore(state)
    found = [again.next(16).x_pos for _ in range(10)] + [again.fresh(5).x]
    assert all(map(torch.equal, expected, found))
    fresh = source()
    untouched = fresh.state()
    first = fresh.next(16).x
    fresh.restore(untouched)
    assert torch.equal(fresh.next(16).x, first)


def test_each_bulk_is_used_as_often_as_asked_and_its_groups_stay_together():
    stream = source()
    first, second, other = (torch.cat([colours(stream.next(16)) for _ in range(4)]) for _ in range(3))
    assert not torch.equal(first, second)
    assert torch.equal(first.sort(dim=0).values, second.sort(dim=0).values)
    assert not torch.equal(first.sort(dim=0).values, other.sort(dim=0).values)
    for part in (first, second):
        groups = part.view(16, 4, 3)
        assert float((groups - groups[:, :1]).abs().max()) < 0.1


def test_groups_end_where_they_should():
    stream = source(groups_until=128)  # one bulk, used twice
    spread = [float(colours(stream.next(4)).std(dim=0).max()) for _ in range(64)]
    assert max(spread[:32]) < 0.05
    assert min(spread[32:]) > 0.05


def test_evaluations_have_anchors_at_random_with_latents():
    stream = source()
    aside = stream.set_aside(0.1, 40, 16)
    assert torch.equal(aside.z, stream.set_aside(0.1, 40, 16).z)
    assert float(aside.z[:4, 0].std()) > 0.05
    assert torch.equal(aside.x, torch.from_numpy(pictures(aside.z)).float() / 255)
    with pytest.raises(ValueError, match="at most the bulk of 64, got 65"):
        stream.next(65)
