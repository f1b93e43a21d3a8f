import numpy as np
import pytest


@pytest.fixture
def latents():
    """600 rows of five independent latents, two of them far from Gaussian."""
    rng = np.random.default_rng(20)
    z = rng.normal(size=(600, 5))
    z[:, 3:] = rng.uniform(-1, 1, size=(600, 2))
    return z


@pytest.fixture
def shuffled(latents):
    return np.random.default_rng(21).permutation(latents)
