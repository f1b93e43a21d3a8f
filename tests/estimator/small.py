"""Estimators and data that take a second."""

import numpy as np
import pytest
from scipy.signal import lfilter

from aninfonce.estimator import ContrastiveICA
from aninfonce.estimator.frames import Frames

# So few steps leave an embedding unfinished, and it says so.
UNFINISHED = pytest.mark.filterwarnings("ignore::aninfonce.ContrastiveICAWarning")
QUICK = {"max_steps": 30, "batch_size": 64, "device": "cpu", "encoder_options": {"width": 16, "depth": 2}}


def quick(**changes):
    return ContrastiveICA(**{"n_components": 3, "random_state": 0, **QUICK, **changes})


def make_pairs(n=400, dim=3, seed=0, step=(0.1, 0.3, 0.6)):
    """Factors on a sphere, seen through a bent map; steps of different size along each."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, dim))
    z_pos = z / np.linalg.norm(z, axis=1, keepdims=True) + np.array(step) * rng.normal(size=(n, dim))
    z, z_pos = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (z, z_pos))
    mixing = np.linalg.qr(np.random.default_rng(7).normal(size=(dim, dim)))[0]
    return tuple(np.tanh(part @ mixing) for part in (z, z_pos))


def frames(X, session=None, **changes):
    """Rows of one session, or of several with ascending numbers."""
    X = np.asarray(X)
    numbers = np.zeros(len(X), dtype=np.intp) if session is None else np.asarray(session, dtype=np.intp)
    return Frames(X, numbers, **changes)


def counted(n):
    """Rows that hold their own number."""
    return np.arange(float(n))[:, None]


def autoregressive(phi, n, seed=0, channels=6):
    """Gaussian factors (n, d) of unit variance and memory φ, and a bent view of them, (n, channels)."""
    rng = np.random.default_rng(seed)
    phi = np.asarray(phi)
    noise = rng.normal(size=(n + 300, len(phi))) * np.sqrt(1 - phi**2)
    z = np.stack([lfilter([1.0], [1.0, -f], noise[:, k]) for k, f in enumerate(phi)], axis=1)[300:]
    return z, np.tanh(0.4 * z @ rng.normal(size=(len(phi), channels)))
