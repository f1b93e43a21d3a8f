"""Linear AMUSE beside its textbook form, and the errors of Λ̂ and of time constants."""

import numpy as np
import pytest

from aninfonce_papers.beyond.methods import Found, errors, scores, second_order
from aninfonce_papers.beyond.worlds import Recording, make_recording

PHI = [0.5, 0.8, 0.95]


def _linear(rows=12_000):
    recording = make_recording(PHI, rows, seed=0, candidates=10)
    mixed = recording.z @ np.array([[1.0, 0.3, 0.2], [-0.4, 1.0, 0.1], [0.2, 0.5, 1.0]])
    return recording, mixed


def test_amuse_undoes_a_linear_mixing():
    """φ is known to 1/√10 000 = .01, and axes turn by at most that over the gap of .15: cos .07 = .998."""
    recording, mixed = _linear()
    found = second_order(mixed, 10_000, [1])
    score = scores(recording, found, 10_000)
    assert score["R²"] > 0.999999
    assert score["mean correlation"] > 0.98
    assert errors(recording, found, 1)["error of time constants"] < 0.25


def test_amuse_is_a_generalised_eigenproblem():
    from scipy.linalg import eigh

    _, mixed = _linear(3_000)
    part = mixed[:2_000] - mixed[:2_000].mean(axis=0)
    lagged = part[:-1].T @ part[1:] / 1_999
    values, axes = eigh(0.5 * (lagged + lagged.T), np.cov(part.T))
    found = second_order(mixed, 2_000, [1])
    assert np.allclose(found.concentration, values / (1 - values**2))
    expected = (mixed[2_000:] - mixed[:2_000].mean(axis=0)) @ axes
    assert np.allclose(np.abs(found.embedding), np.abs(expected))


@pytest.mark.parametrize("lag", [1, 4])
def test_errors_are_zero_at_the_truth(lag):
    phi = np.array(PHI) ** lag
    recording = Recording(np.zeros((2, 3)), np.zeros((2, 3)), np.array(PHI) / (1 - np.square(PHI)))
    found = Found(np.zeros((2, 3)), phi / (1 - phi**2), {})
    measured = errors(recording, found, lag)
    assert measured["error of Λ̂"] < 1e-9
    assert measured["error of time constants"] < 1e-9
    assert measured["Λ"] == measured["Λ̂"]


def test_without_a_concentration_there_is_no_error():
    recording = Recording(np.zeros((2, 1)), np.zeros((2, 1)), np.ones(1))
    assert errors(recording, Found(np.zeros((2, 1)), None, {}), 1) == {}
