import numpy as np
import pytest
import torch

from aninfonce.metrics import identity_baseline, linear_r2, mean_correlation_coefficient


def test_is_both_scores_of_the_observations(latents):
    x = np.tanh(latents @ np.random.default_rng(0).normal(size=(5, 5)))
    baseline = identity_baseline(latents, x, partitions={"first": [0, 1]}, fit="same")
    assert baseline.r2 == linear_r2(latents, x, partitions={"first": [0, 1]}, fit="same")
    assert baseline.mcc == mean_correlation_coefficient(latents, x)


def test_images_are_flattened(latents):
    images = torch.tensor(latents[:, :4], dtype=torch.float32).reshape(600, 1, 2, 2)
    baseline = identity_baseline(latents, images)
    assert baseline.r2.per_dimension[:4] == pytest.approx((1.0,) * 4)
    assert baseline.mcc.matching == (0, 1, 2, 3, None)


@pytest.mark.parametrize(
    ("observations", "message"),
    [
        (np.ones(600), r"`observations`.*shape \(N, ...\).*\(600,\)"),
        (np.ones((599, 2)), "`observations` must have as many rows as `latents`, 600"),
        (np.full((600, 2, 2), np.nan), "`observations` must be finite.*600 of 600"),
        (np.ones((600, 0)), "`observations` must have at least"),
    ],
)
def test_bad_input_is_refused_by_name(latents, observations, message):
    with pytest.raises(ValueError, match=message):
        identity_baseline(latents, observations)
