"""Directions of many columns that follow latents, found without labels, as the last layer of a network."""

import pytest
import torch
from torch import Generator, nn

from aninfonce.metrics import linear_r2, mean_correlation_coefficient
from aninfonce_papers.zimmermann2021.narrowing import narrow, telling_directions

DRAW = Generator().manual_seed(0)
MIX = torch.randn(5, 12, generator=DRAW)
KINDS = ((0,), (1,), (2, 3, 4))


def shown(z):
    """Five latents in twelve columns, with a bend and a little noise."""
    return (z @ MIX) + 0.1 * (z @ MIX).square() + 0.05 * torch.randn(*z.shape[:-1], 12, generator=DRAW)


def groups(free, count=60, members=16):
    middle = torch.rand(count, 1, 5, generator=DRAW) * 2 - 1
    z = middle + 0.1 * torch.randn(count, members, 5, generator=DRAW)
    z[..., list(free)] = torch.rand(count, members, len(free), generator=DRAW) * 2 - 1
    return z


def directions():
    z = torch.rand(1_000, 5, generator=DRAW) * 2 - 1
    steps = shown(z) - shown(z + 0.1 * torch.randn(1_000, 5, generator=DRAW))
    return telling_directions([(shown(groups(free)), len(free)) for free in KINDS], steps)


def test_a_latent_that_is_free_alone_has_a_direction_of_its_own():
    found = directions()
    assert found.shape == (12, 5)
    z = torch.rand(2_000, 5, generator=DRAW) * 2 - 1
    h = shown(z) @ found
    assert mean_correlation_coefficient(z[:, :2], h[:, :2]).mean > 0.95
    # Latents that are free together are found together, and the others do not show there.
    assert linear_r2(z[:, 2:], h[:, 2:]).mean > 0.9
    assert linear_r2(z[:, :2], h[:, 2:]).mean < 0.1
    assert linear_r2(z, h).mean > 0.9


def test_noise_that_pairs_do_not_share_is_no_direction():
    """A column that varies most of all, but within pairs as well, tells nothing."""
    loud = [
        torch.cat([shown(groups(free)), 50 * torch.randn(60, 16, 1, generator=DRAW)], 2) for free in KINDS
    ]
    steps = torch.cat([0.1 * torch.randn(1_000, 12, generator=DRAW), 50 * torch.randn(1_000, 1)], 1)
    found = telling_directions([(h, len(free)) for h, free in zip(loud, KINDS, strict=True)], steps)
    share = (found[-1].abs() * 50) / (found[:-1].square().sum(dim=0).sqrt() * MIX.norm())
    assert float(share.max()) < 0.1


def network(columns, seed):
    torch.manual_seed(seed)
    layers = (nn.Linear(6, 20), nn.LeakyReLU(), nn.Linear(20, 8), nn.LeakyReLU(), nn.Linear(8, columns))
    return nn.Sequential(*layers)


@torch.no_grad()
def test_a_narrow_network_gives_these_directions_of_the_wide_one():
    wide, narrowed = network(12, 0), network(3, 1)
    x, x_pos = torch.randn(2, 500, 6, generator=DRAW)
    chosen = torch.randn(12, 3, generator=DRAW)
    narrow(narrowed, wide, chosen, (wide(x), wide(x_pos)), step=0.25)
    z, z_pos = narrowed(x), narrowed(x_pos)
    torch.testing.assert_close(z.mean(dim=0), torch.zeros(3), atol=1e-5, rtol=0)
    torch.testing.assert_close((z - z_pos).square().mean(dim=0).div(2).sqrt(), torch.full((3,), 0.25))
    expected = wide(x) @ chosen
    expected = expected - expected.mean(dim=0)
    torch.testing.assert_close(z / z.std(dim=0), expected / expected.std(dim=0), atol=1e-4, rtol=1e-4)
    # Both layers take steps of the same size alike.
    norms = [float(torch.linalg.matrix_norm(narrowed[i].weight, 2)) for i in (2, 4)]
    assert norms[0] == pytest.approx(norms[1], rel=1e-4)
    with pytest.raises(ValueError, match="must differ from `network` in one layer"):
        narrow(
            nn.Sequential(nn.Linear(6, 4), nn.LeakyReLU(), nn.Linear(4, 3)),
            wide,
            chosen,
            (wide(x), wide(x_pos)),
            step=0.25,
        )
