"""The SlowVAE of rows keeps slow sources, and one seed gives one model."""

import numpy as np
from benchmarks.recordings.slow_vae import slow_vae
from benchmarks.recordings.worlds import autoregressive

from aninfonce.metrics import linear_r2


def test_it_keeps_slow_sources_and_is_the_same_each_time():
    z = autoregressive([0.95, 0.98], 2000, ["gauss", "gauss"], np.random.default_rng(0))
    x = (z @ np.random.default_rng(1).standard_normal((2, 6))).astype(np.float32)
    models = [slow_vae(x[:-1], x[1:], 2, seed=3, steps=400, batch=64, width=32) for _ in range(2)]
    first, second = (model(x) for model in models)
    assert np.array_equal(first, second)
    assert linear_r2(z, first).mean > 0.9
