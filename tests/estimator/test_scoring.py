"""Bits do not depend on the order of rows, and neighbours in time are no negatives."""

import numpy as np
import torch

from aninfonce.estimator.scoring import bits_above_chance
from aninfonce.losses import AnInfoNCE


def test_neighbours_in_time_are_no_negatives():
    """A walk in which row t + 1, the positive of row t, is an anchor too: as a negative it costs bits."""
    walk = torch.from_numpy(np.cumsum(np.random.default_rng(0).normal(size=(1025, 2)), axis=0)).float()
    loss = AnInfoNCE(2, initial=1.0, normalize=False)
    far = bits_above_chance(loss, walk[:-1], walk[1:], block=64, apart=8)
    guess = np.log(64)
    consecutive = [loss(walk[i : i + 64], walk[i + 1 : i + 65]).item() for i in range(0, 1024, 64)]
    assert far > (guess - np.mean(consecutive)) / np.log(2) + 1


def test_the_order_of_rows_does_not_matter():
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(5000, 2, generator=generator)
    z_pos = z + 0.2 * torch.randn(5000, 2, generator=generator)
    order = z[:, 0].argsort()
    loss = AnInfoNCE(2, initial=25.0, normalize=False)
    assert abs(bits_above_chance(loss, z, z_pos) - bits_above_chance(loss, z[order], z_pos[order])) < 0.05


def test_an_embedding_that_is_not_finite_scores_least():
    z = torch.ones(10, 2)
    assert bits_above_chance(AnInfoNCE(2), z, z * torch.nan) == -float("inf")
