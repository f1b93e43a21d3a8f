import numpy as np
import pytest
import torch

from aninfonce.diagnostics import fit_concentration, shared_blocks
from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.spaces import Sphere

TRUTH = torch.tensor([5.0, 25.0, 25.0])
WALK = torch.tensor([8.0, 20.0, 60.0, 150.0])


def draw(seed, n=1024):
    generator = torch.Generator().manual_seed(seed)
    z = Uniform(Sphere(3)).sample(n, generator)
    return z, FisherBingham(z, TRUTH).sample(generator)


def test_intervals_cover_the_truth():
    """60 intervals of 95 %: fewer than 51 cover with probability below 1e-4 if they are independent."""
    truth, covered = TRUTH.numpy(), 0
    for seed in range(20):
        low, high = fit_concentration(*draw(seed), seed=seed).interval.T
        covered += int(((low < truth) & (truth < high)).sum())
    assert 51 <= covered <= 60


def test_pairs_that_depend_on_each_other_widen_the_intervals():
    z, z_pos = (part.repeat_interleave(4, dim=0) for part in draw(0, 512))
    noise = 1e-3 * torch.randn(z.shape, generator=torch.Generator().manual_seed(0))
    naive = fit_concentration(z + noise, z_pos + noise)
    honest = fit_concentration(z + noise, z_pos + noise, clusters=np.repeat(np.arange(512), 4))
    assert (np.diff(honest.interval) > 1.5 * np.diff(naive.interval)).all()


def recordings(count, rows, seed=0):
    """Chains on the sphere, each step drawn at the last row, (rows + 1, count, 4)."""
    generator = torch.Generator().manual_seed(seed)
    chain = [Uniform(Sphere(4)).sample(count, generator)]
    for _ in range(rows):
        chain.append(FisherBingham(chain[-1], WALK).sample(generator))
    return torch.stack(chain)


def test_intervals_of_recordings_cover_the_truth():
    """96 intervals of 95 %, four of each recording; blocks of consecutive rows covered a quarter of them."""
    chains, covered = recordings(24, 512), 0
    clusters = np.arange(512) // 23
    for chain in chains.unbind(dim=1):
        low, high = fit_concentration(chain[:-1], chain[1:], clusters=clusters, apart=4).interval.T
        covered += int(((low < WALK.numpy()) & (WALK.numpy() < high)).sum())
    assert covered >= 84


def test_the_order_of_independent_pairs_does_not_matter():
    """Sorted, so that blocks of consecutive rows would hold rows that are all alike."""
    z, z_pos = draw(0, 4096)
    order = z[:, 1].argsort()
    sorted_, shuffled = fit_concentration(z[order], z_pos[order]), fit_concentration(z, z_pos)
    np.testing.assert_allclose(sorted_.values, shuffled.values, rtol=0.05)
    np.testing.assert_allclose(np.diff(sorted_.interval), np.diff(shuffled.interval), rtol=0.15)


def test_few_clusters_widen_the_intervals():
    """Six clusters know their own spread badly; a bootstrap alone would make the intervals too narrow."""
    many, few = (
        np.mean([np.diff(fit_concentration(*draw(s, 256), clusters=clusters).interval) for s in range(12)])
        for clusters in (np.arange(256), np.arange(256) % 6)
    )
    assert few > 1.1 * many
    with pytest.raises(ValueError, match="`clusters` must be at least 2"):
        fit_concentration(*draw(0, 256), clusters=np.zeros(256, dtype=np.intp))


def test_a_column_without_information_has_no_concentration():
    z, z_pos = draw(0)
    noise = torch.randn(2, 1024, 1, generator=torch.Generator().manual_seed(0))
    found = fit_concentration(torch.cat([z, noise[0]], 1), torch.cat([z_pos, noise[1]], 1))
    assert found.values[3] < 0.1
    constant = fit_concentration(torch.cat([z, 0 * noise[0]], 1), torch.cat([z_pos, 0 * noise[1]], 1))
    assert np.isfinite(constant.interval).all()


def test_blocks_chain_through_overlaps():
    interval = np.array([[8.0, 9.0], [1.0, 2.0], [1.9, 4.0], [3.0, 5.0], [8.5, 8.6]])
    assert [block.tolist() for block in shared_blocks(interval)] == [[1, 2, 3], [0, 4]]


def test_bad_input_is_named():
    z, z_pos = draw(0, 64)
    with pytest.raises(ValueError, match="`positives`"):
        fit_concentration(z, z_pos[:10])
    with pytest.raises(ValueError, match="`level`"):
        fit_concentration(z, z_pos, level=1.5)
