"""Worlds whose steps depend on where they start are what they say."""

import pytest
import torch
from scipy import stats

from aninfonce_papers.beyond.heteroscedastic import r2_elsewhere
from aninfonce_papers.beyond.steps_by_place import REACH, NormalSteps, outside, steps_by_place
from aninfonce_papers.engine import find_study

BASE = [4.0, 8.0, 16.0]


def drawn(factor, **options):
    process = steps_by_place(BASE, factor, seed=0, candidates=10, **options)
    return process.sample(20_000, torch.Generator().manual_seed(0))


def test_steps_are_normal_with_the_lambda_of_their_place():
    """Steps times √Λ are standard normal at both ends: 12 tests at 1e-4, so one in 800 would err."""
    pairs = drawn(16.0)
    rises = torch.tensor([1.0, -1.0, 1.0])
    values = torch.tensor(BASE) * 16.0 ** (rises * pairs.z[:, :1] / (2 * REACH))
    unit = (pairs.z_pos - pairs.z) * values.sqrt()
    for side in (pairs.z[:, 0] > 0, pairs.z[:, 0] <= 0):
        for column in unit[side].T:
            assert stats.kstest(column.numpy(), "norm").pvalue > 1e-4
    torch.testing.assert_close(pairs.z.std(dim=0), torch.ones(3), rtol=0.02, atol=0)


def test_two_kinds_do_not_depend_on_the_place():
    pairs = drawn(16.0, kinds=True)
    steps = (pairs.z_pos - pairs.z).double()
    # Half of the steps have 4 times the Λ of the middle, half a quarter.
    expected = torch.tensor([0.5 * (1 / (4 * b) + 4 / b) for b in BASE], dtype=torch.float64)
    for side in (pairs.z[:, 0] > 0, pairs.z[:, 0] <= 0):
        torch.testing.assert_close(steps[side].var(dim=0), expected, rtol=0.1, atol=0)
    assert float(stats.kurtosis(steps[:, 0].numpy())) > 1


def test_densities_are_those_of_the_draws():
    one, other = torch.tensor([[1.0]]), torch.tensor([[9.0]])
    grid = torch.linspace(-8, 8, 4001)[:, None, None]
    for law in (NormalSteps(torch.zeros(1, 1), one), NormalSteps(torch.zeros(1, 1), one, other)):
        total = torch.trapezoid(law.log_prob(grid).exp()[:, 0], grid[:, 0, 0])
        assert float(total) == pytest.approx(1.0, abs=1e-4)


def test_outside_is_outside():
    z = outside(1000, 3, torch.Generator().manual_seed(0))
    assert bool((z.abs() > REACH).any(dim=1).all())
    assert float(z.abs().max()) <= 1.5 * REACH


def test_a_map_that_bends_outside_is_seen_there():
    z = torch.linspace(-1, 1, 101)[:, None]
    far = torch.linspace(1, 2, 50)[:, None]
    assert r2_elsewhere(z, z, far, far) == pytest.approx(1.0)
    assert r2_elsewhere(z, z, far, far.clamp_max(1.2)) < 0.5


def test_a_factor_below_one_is_refused_by_name():
    with pytest.raises(ValueError, match="`factor`"):
        steps_by_place(BASE, 0.5, seed=0, candidates=10)


def test_methods_on_a_sphere_have_a_column_to_spare():
    for cell in find_study("heteroscedastic").experiments("laptop"):
        latents = len(cell.pairs.base)
        assert cell.encoder.dim == latents + (cell.encoder.space == "sphere")
