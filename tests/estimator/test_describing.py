import numpy as np
import pytest
import torch
from torch import nn

from aninfonce.encoders.embedding import Embedding
from aninfonce.estimator import describing
from aninfonce.estimator.describing import describe_pairs
from aninfonce.estimator.pairs import paired
from tests.estimator.small import frames


@pytest.fixture
def identity():
    body = nn.Linear(2, 2)
    with torch.no_grad():
        body.weight.copy_(torch.eye(2))
        body.bias.zero_()
    return Embedding(body, nn.Identity())


def test_rows_from_everywhere_are_described(identity, monkeypatch):
    """Ordered rows whose first seventh varies less: the first of them are not what all are."""
    monkeypatch.setattr(describing, "_MOST_PAIRS", 1000)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(7000, 2))
    steps = np.where(np.arange(7000) < 1000, 0.02, 0.4)[:, None]
    pairs = paired(frames(x), x + steps * rng.normal(size=x.shape))
    shuffled = pairs.take(rng.permutation(7000))
    ordered, mixed = (describe_pairs(identity, which, seed=0) for which in (pairs, shuffled))
    np.testing.assert_allclose(ordered.values, mixed.values, rtol=0.25)
    first = describe_pairs(identity, pairs.take(np.arange(1000)), seed=0)
    assert (first.values > 5 * ordered.values).all()


def test_the_seed_decides(identity):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    pairs = paired(frames(x), x + 0.1 * rng.normal(size=x.shape))
    one, same = (describe_pairs(identity, pairs, seed=1) for _ in range(2))
    np.testing.assert_array_equal(one.interval, same.interval)
