"""The network that looks twice."""

import pytest
import torch
from torch import Generator, nn
from torch.autograd import gradcheck

from aninfonce.encoders import GlimpseNet
from aninfonce.encoders.glimpse import attended_place, glimpse


def net(seed=0, out=3, **options):
    return GlimpseNet(out, width=4, window=12, generator=Generator().manual_seed(seed), **options)


@pytest.mark.parametrize("size", [(12, 12), (24, 31), (64, 48), (65, 65)])
def test_any_size(size):
    embedding = net(out=7).eval()(torch.rand(2, 3, *size))
    assert embedding.shape == (2, 7)


def test_the_place_of_equal_scores_is_the_middle():
    assert torch.allclose(attended_place(torch.ones(2, 5, 8)), torch.zeros(2, 2), atol=1e-7)


@pytest.mark.parametrize(("row", "column"), [(0, 0), (2, 5), (4, 7)])
def test_the_place_of_one_pixel_is_its_middle(row, column):
    scores = torch.zeros(1, 5, 8, dtype=torch.float64)
    scores[0, row, column] = 1e3
    expected = torch.tensor([[(2 * row + 1) / 5 - 1, (2 * column + 1) / 8 - 1]], dtype=torch.float64)
    assert torch.allclose(attended_place(scores), expected)


def test_a_glimpse_on_whole_pixels_is_a_slice():
    x = torch.rand(2, 3, 10, 14, generator=Generator().manual_seed(0))
    # The middles of rows 2…5 and columns 8…11, and of rows 5…8 and columns 1…4.
    place = torch.tensor([[4 / 5 - 1, 10 / 7 - 1], [7 / 5 - 1, 3 / 7 - 1]])
    expected = torch.stack((x[0, :, 2:6, 8:12], x[1, :, 5:9, 1:5]))
    assert torch.allclose(glimpse(x, place, 4), expected, atol=1e-5)


def test_beyond_the_edge_the_edge_goes_on():
    x = torch.rand(1, 1, 6, 6, generator=Generator().manual_seed(0))
    assert torch.allclose(glimpse(x, torch.tensor([[-5.0, -5.0]]), 3), x[..., :1, :1].expand(1, 1, 3, 3))


def test_gradients_reach_the_place():
    generator = Generator().manual_seed(0)
    x = torch.rand(2, 1, 9, 9, dtype=torch.float64, generator=generator)
    scores = torch.rand(2, 4, 4, dtype=torch.float64, generator=generator, requires_grad=True)
    assert gradcheck(lambda s: glimpse(x, attended_place(s), 3), (scores,))


def test_weights_come_from_the_generator():
    first, second, other = (net(seed).last[0].weight for seed in (0, 0, 1))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_it_learns_where_to_look():
    """A stroke somewhere in the picture leans left or right: told only that, the window finds it."""
    generator = Generator().manual_seed(0)

    def draw(n):
        x = 0.1 * torch.randn(n, 1, 40, 40, generator=generator)
        y = torch.randint(2, (n,), generator=generator)
        corner = torch.randint(5, 29, (n, 2), generator=generator)
        for k in range(n):
            stroke = torch.eye(6) if y[k] else torch.eye(6).flip(0)
            x[k, 0, corner[k, 0] : corner[k, 0] + 6, corner[k, 1] : corner[k, 1] + 6] += 3 * stroke
        return x, y, (corner + 3) / 20 - 1

    encoder = GlimpseNet(2, in_channels=1, width=8, window=12, generator=generator)
    optimizer = torch.optim.Adam(encoder.parameters(), 3e-3)
    for _ in range(150):
        x, y, _ = draw(64)
        optimizer.zero_grad()
        nn.functional.cross_entropy(encoder(x), y).backward()
        optimizer.step()
    encoder.eval()
    x, y, where = draw(256)
    with torch.no_grad():
        assert (encoder(x).argmax(1) == y).float().mean() > 0.95
        found = encoder.place(x)
    correlation = torch.corrcoef(torch.cat((found, where), dim=1).T)[:2, 2:]
    assert correlation.diagonal().min() > 0.8


def test_bad_input():
    with pytest.raises(ValueError, match=r"\(N, 3, H, W\), H and W at least 12"):
        net()(torch.zeros(2, 1, 24, 24))
    with pytest.raises(ValueError, match=r"H and W at least 12, got"):
        net()(torch.zeros(2, 3, 24, 11))
    for name in ("width", "window", "out_features"):
        with pytest.raises(ValueError, match=f"`{name}`"):
            GlimpseNet(**{"out_features": 2, name: 0})
