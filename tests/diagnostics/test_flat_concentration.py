from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.signal import lfilter

from aninfonce.diagnostics.flat_concentration import fit_flat_concentration

PHI = np.array([0.3, 0.6, 0.85, 0.95])
TRUTH = PHI / (1 - PHI**2)


def gaussian_pairs(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, 4))
    return torch.from_numpy(z), torch.from_numpy(PHI * z + np.sqrt(1 - PHI**2) * rng.standard_normal((n, 4)))


def recording(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    noise = np.random.default_rng(seed).standard_normal((n + 500, 4))
    columns = [lfilter([np.sqrt(1 - phi**2)], [1, -phi], noise[:, k]) for k, phi in enumerate(PHI)]
    rows = torch.from_numpy(np.stack(columns, axis=1)[499:])
    return rows[:-1], rows[1:]


def test_the_maximum_is_that_of_the_likelihood_written_out():
    z, z_pos = (part[:48, :2] for part in gaussian_pairs(48, 0))
    found = fit_flat_concentration(z, z_pos, block=48).values
    a, p = z.numpy(), z_pos.numpy()

    def loss(theta: np.ndarray) -> float:
        total = 0.0
        for i in range(48):
            candidates = np.concatenate([p[i : i + 1], np.delete(a, i, axis=0)])
            logits = -0.5 * (candidates - a[i]) ** 2 @ theta[:2]
            logits = logits + candidates @ theta[2:4] + candidates**2 @ theta[4:6]
            total += np.log(np.exp(logits).sum()) - logits[0]
        return total

    best = minimize(loss, np.array([0.5, 0.5, 0, 0, 0, 0]), method="BFGS", options={"gtol": 1e-7}).x
    # A hundredth of a pair holds the start, and the last step is too small to tell.
    np.testing.assert_allclose(found, best[:2], rtol=0.05)


@pytest.mark.parametrize("kind", ["pairs", "recording"])
def test_intervals_cover_the_truth(kind):
    covered = []
    for seed in range(15):
        if kind == "pairs":
            found = fit_flat_concentration(*gaussian_pairs(2000, seed), seed=seed)
        else:
            clusters = np.arange(2000) // 100
            found = fit_flat_concentration(*recording(2000, seed), clusters=clusters, apart=4, seed=seed)
        covered.append((found.interval[:, 0] <= TRUTH) & (found.interval[:, 1] >= TRUTH))
    # 60 intervals of nominally 95 %: fewer than 51 that cover have a chance of about one in a thousand.
    assert np.sum(covered) >= 51


def test_any_marginal_will_do():
    """Pairs that are common or rare by their place as well: the terms of the candidate take it."""
    z, z_pos = gaussian_pairs(8000, 3)
    kept = torch.rand(8000, generator=torch.Generator().manual_seed(0)) < torch.sigmoid(2 * z[:, 3])
    # Selected by the anchor alone, so that the conditional stays as it is and the marginal does not.
    found = fit_flat_concentration(z[kept], z_pos[kept])
    assert np.abs(found.values / TRUTH - 1).max() < 0.35


def test_what_is_not_known_of_the_variance_widens_the_interval():
    z, z_pos = gaussian_pairs(2000, 0)
    sure = fit_flat_concentration(z, z_pos)
    unsure = fit_flat_concentration(z, z_pos, variance_error=np.array([0.0, 0.0, 0.0, 0.5]))
    width, wider = np.diff(sure.interval)[:, 0], np.diff(unsure.interval)[:, 0]
    np.testing.assert_allclose(wider[:3], width[:3], rtol=0.2)
    assert wider[3] > 3 * width[3]


def test_a_column_of_noise_has_no_concentration():
    z, z_pos = gaussian_pairs(2000, 0)
    z_pos = z_pos.clone()
    z_pos[:, 0] = torch.randn(2000, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found = fit_flat_concentration(z, z_pos)
    assert found.values[0] < 0.1
    assert found.interval[0, 0] == 0.0


def test_a_potential_that_knows_the_marginal_helps_or_does_no_harm():
    z, z_pos = gaussian_pairs(2000, 0)
    plain = fit_flat_concentration(z, z_pos).values
    helped = fit_flat_concentration(z, z_pos, potential=lambda rows: rows[:, 0].sin()).values
    np.testing.assert_allclose(helped, plain, rtol=0.1)


def test_bad_arguments_are_named():
    z, z_pos = gaussian_pairs(10, 0)
    with pytest.raises(ValueError, match="`positives`"):
        fit_flat_concentration(z, z_pos[:5])
    with pytest.raises(ValueError, match="`level`"):
        fit_flat_concentration(z, z_pos, level=1.5)
