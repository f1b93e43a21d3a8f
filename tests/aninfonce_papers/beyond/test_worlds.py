"""Recordings whose sources are known: their law, their mixing, and what each violation does."""

import numpy as np
import pytest
import torch

from aninfonce._seeds import stream
from aninfonce.mixing import InvertibleMLP
from aninfonce_papers.beyond.worlds import BREAKS, correlating, make_recording

PHI = [0.5, 0.9]


def _recording(rows=20_000, seed=0, **options):
    return make_recording(PHI, rows, seed, candidates=10, **options)


def _innovations(z):
    return (z[1:] - np.array(PHI) * z[:-1]) / np.sqrt(1 - np.square(PHI))


@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_sources_have_the_law_that_is_said(law):
    """Bounds are five standard errors; for the variance, 20 000 rows of φ = .9 are worth about 2000.

    The chance that one of the checks errs is below 1e-5.
    """
    z = _recording(innovations=law).z
    assert np.allclose(z.var(axis=0), 1.0, atol=5 * np.sqrt(2 * 3 / 2_000))
    lagged = (z[1:] * z[:-1]).mean(axis=0) / z.var(axis=0)
    assert np.allclose(lagged, PHI, atol=5 / np.sqrt(20_000))
    drawn = _innovations(z)
    assert np.allclose((drawn**2).mean(axis=0), 1.0, atol=5 * np.sqrt(5 / 20_000))
    # The fourth moment is 3 or 6, the eighth 105 or 2520: fourth powers have the variance 96 or 2484.
    fourth, error = {"normal": (3.0, 96), "laplace": (6.0, 2484)}[law]
    assert np.allclose((drawn**4).mean(axis=0), fourth, atol=5 * np.sqrt(error / 20_000))


def test_the_concentration_is_that_of_the_pairs():
    """Regressing z⁺ on z gives φ and the variance of what is left: Λ is their ratio."""
    recording = _recording(100_000)
    slope = (recording.z[1:] * recording.z[:-1]).mean(axis=0) / (recording.z[:-1] ** 2).mean(axis=0)
    left = (recording.z[1:] - slope * recording.z[:-1]).var(axis=0)
    assert np.allclose(slope / left, recording.concentration, rtol=0.05)


def test_observations_are_the_mixed_sources():
    recording = _recording(500, seed=3)
    mixing = InvertibleMLP(2, candidates=10, generator=stream(3, "mixing"))
    assert np.allclose(mixing.inverse(torch.from_numpy(recording.x)).numpy(), recording.z, atol=1e-5)


def test_a_recording_is_a_function_of_its_seed():
    assert np.array_equal(_recording(100).x, _recording(100).x)
    assert not np.array_equal(_recording(100).x, _recording(100, seed=1).x)


@pytest.mark.parametrize("broken", [name for name in BREAKS if name not in ("none", "tails")])
def test_a_dial_at_zero_breaks_nothing(broken):
    """Up to the mean and the scale of the whole recording, which some violations have brought to 0 and 1."""
    whole, zero = _recording(1_000), _recording(1_000, broken=broken, dial=0.0)
    assert np.allclose(np.corrcoef(whole.z.T, zero.z.T)[[0, 1], [2, 3]], 1.0)
    assert np.allclose(whole.z, zero.z) or broken in ("place", "drift")


def test_tails():
    """The fourth moment of Student's law with 5 degrees of freedom is 9; a normal law's 3 is known to .07."""
    heavy = _innovations(_recording(broken="tails", dial=5.0).z)
    assert ((heavy**4).mean(axis=0) > 4.0).all()


def test_place():
    recording = _recording(broken="place", dial=1.0)
    before, steps = recording.z[:-1], np.diff(recording.z, axis=0)
    for column in range(2):
        high, low = (before[:, column] > 1.0), (before[:, column] < -0.5)
        assert steps[high, column].std() > 1.5 * steps[low, column].std()


def test_noise_is_a_share_of_each_channel():
    clean, noisy = _recording(), _recording(broken="noise", dial=0.5)
    share = (noisy.x - clean.x).std(axis=0) / clean.x.std(axis=0)
    assert np.allclose(share, 0.5, atol=5 * 0.5 / np.sqrt(2 * 20_000))
    assert np.array_equal(clean.z, noisy.z)


def test_correlation_is_that_of_the_sources():
    """Of uncorrelated sources, exactly what the map does; their own correlation is chance."""
    assert np.allclose(np.linalg.matrix_power(correlating(4, 0.8), 2), 0.8 + 0.2 * np.eye(4))
    found = np.corrcoef(_recording(broken="correlation", dial=0.5).z.T)[0, 1]
    assert found == pytest.approx(0.5, abs=0.1)


def test_drift_goes_up_in_one_source_and_down_in_the_next():
    z = _recording(broken="drift", dial=1.0).z
    early, late = z[:5_000].std(axis=0), z[-5_000:].std(axis=0)
    assert late[0] > 2 * early[0]
    assert early[1] > 2 * late[1]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"phi": [0.5, 1.0]}, "phi"),
        ({"phi": []}, "phi"),
        ({"rows": 0}, "rows"),
        ({"broken": "nothing"}, "broken"),
        ({"innovations": "cauchy"}, "innovations"),
        ({"broken": "tails", "dial": 2.0}, "dial"),
        ({"broken": "correlation", "dial": 1.0}, "correlation"),
    ],
)
def test_what_cannot_be_is_refused_by_name(change, named):
    options = {"phi": PHI, "rows": 10, "seed": 0, "candidates": 10, **change}
    with pytest.raises(ValueError, match=f"`{named}`"):
        make_recording(**options)
