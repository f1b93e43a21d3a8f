"""Estimators and data that take a second."""

import numpy as np
import pytest

from aninfonce.estimator import ContrastiveICA

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
