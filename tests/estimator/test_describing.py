import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from aninfonce.encoders.embedding import Embedding
from aninfonce.estimator import describing
from aninfonce.estimator.describing import describe_pairs
from aninfonce.estimator.pairs import paired
from tests.estimator.small import autoregressive, frames


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


def test_few_stretches_widen_what_is_not_known_of_a_variance():
    """Ten stretches of a recording, whose spread is known as well as Student's t with 9 degrees says."""
    z, _ = autoregressive([0.5, 0.9], 1000, channels=1)
    error = describing._variance_error(torch.from_numpy(z), in_time=True)
    squares = (z - z.mean(axis=0)) ** 2
    spread = squares.reshape(10, 100, 2).mean(axis=1).std(axis=0, ddof=1)
    widened = stats.t.ppf(0.975, 9) / stats.norm.ppf(0.975) * np.sqrt(10 / 9)
    np.testing.assert_allclose(error, widened * spread / np.sqrt(10) / squares.mean(axis=0))


def test_few_rows_without_an_order_have_the_usual_error():
    z = torch.randn(4000, 2, generator=torch.Generator().manual_seed(0))
    error = describing._variance_error(z, in_time=False)
    np.testing.assert_allclose(error, np.sqrt(2 / 4000), rtol=0.1)
