from __future__ import annotations

import numpy as np
import pytest

from aninfonce.alignment.independent import _gaussian, independent_axes


def _turn(k: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(7).normal(size=(k, k)))[0]


@pytest.mark.parametrize("law", ["laplace", "uniform"])
@pytest.mark.parametrize("k", [2, 4])
def test_independent_columns_are_found_and_trusted(law: str, k: int) -> None:
    rng = np.random.default_rng(0)
    samples = getattr(rng, law)(size=(4000, k))
    samples = (samples - samples.mean(axis=0)) / samples.std(axis=0)
    found = independent_axes(samples @ _turn(k))
    assert found.trusted
    assert found.agreement > 0.95
    assert np.abs(_turn(k) @ found.rotation).max(axis=0).min() > 0.99
    assert np.allclose(found.rotation.T @ found.rotation, np.eye(k))


def test_gaussian_columns_are_not_trusted() -> None:
    rng = np.random.default_rng(1)
    assert not any(independent_axes(rng.normal(size=(2000, 2)), seed=seed).trusted for seed in range(20))


def test_one_gaussian_column_among_others_is_fixed_by_them() -> None:
    rng = np.random.default_rng(2)
    samples = np.column_stack([rng.laplace(size=(8000, 2)) / 2**0.5, rng.normal(size=8000)])
    assert independent_axes(samples @ _turn(3)).trusted
    two = np.column_stack([rng.laplace(size=8000) / 2**0.5, rng.normal(size=(8000, 2))])
    assert not independent_axes(two @ _turn(3)).trusted


def test_p_values_of_gaussian_columns_are_uniform() -> None:
    rng = np.random.default_rng(3)
    p = np.concatenate([_gaussian(rng.normal(size=(1000, 5))) for _ in range(200)])
    assert np.allclose(np.quantile(p, [0.05, 0.25, 0.5, 0.75]), [0.05, 0.25, 0.5, 0.75], atol=0.05)


def test_few_rows_and_single_columns_are_left_as_they_are() -> None:
    for samples in (np.random.default_rng(0).laplace(size=(100, 2)), np.ones((1000, 1))):
        found = independent_axes(samples)
        assert not found.trusted
        assert np.array_equal(found.rotation, np.eye(samples.shape[1]))
