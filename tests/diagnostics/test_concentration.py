import numpy as np
import pytest
import torch

from aninfonce.diagnostics import fit_concentration, shared_blocks
from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.spaces import Sphere

TRUTH = torch.tensor([5.0, 25.0, 25.0])


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
