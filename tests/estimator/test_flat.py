"""The estimator in flat space: recordings whose factors are not on a sphere."""

import numpy as np
import pytest
from scipy.signal import lfilter
from sklearn.decomposition import PCA

from aninfonce import ContrastiveICA
from aninfonce.metrics import linear_r2, mean_correlation_coefficient

PHI = np.array([0.3, 0.8, 0.97])
SMALL = {"encoder_options": {"width": 64, "depth": 2}, "whiten": "scale", "random_state": 0, "device": "cpu"}


def recording(phi=PHI, n=8000, seed=0, law="standard_normal"):
    """Autoregressive factors of unit variance, and what six channels see of them."""
    rng = np.random.default_rng(seed)
    noise = getattr(rng, law)(size=(n + 500, len(phi)))
    noise /= noise.std()
    columns = [lfilter([np.sqrt(1 - f**2)], [1, -f], noise[:, k]) for k, f in enumerate(phi)]
    z = np.stack(columns, axis=1)[500:]
    turned = z @ np.linalg.qr(rng.normal(size=(len(phi), len(phi))))[0]
    bent = np.where(turned > 0, turned, 0.3 * turned)
    return z, np.tanh(0.5 * bent @ rng.normal(size=(len(phi), 8))).astype(np.float32)


@pytest.fixture(scope="module")
def seen():
    return recording()


@pytest.fixture(scope="module")
def fitted(seen):
    return ContrastiveICA(3, space="auto", max_steps=400, patience=None, **SMALL).fit(seen[1])


def test_each_factor_of_a_recording_is_a_column(seen, fitted):
    z, x = seen
    e = fitted.transform(x)
    assert fitted.space_ == "flat"
    assert fitted.space_evidence_.radial_spread > fitted.space_evidence_.limit
    assert linear_r2(z, e).mean > max(0.95, linear_r2(z, PCA(3).fit_transform(x)).mean)
    assert mean_correlation_coefficient(z, e).mean > 0.96
    np.testing.assert_allclose(np.cov(e.T), np.eye(3), atol=0.1)


def test_concentration_and_time_constants_are_those_of_the_factors(fitted):
    truth = PHI / (1 - PHI**2)
    assert np.abs(np.log(fitted.concentration_ / truth)).max() < np.log(1.4)
    tau = -1 / np.log(PHI)
    assert np.abs(np.log(fitted.time_constants_ / tau)).max() < np.log(1.5)
    low, high = fitted.time_constants_interval_.T
    assert np.all((low < fitted.time_constants_) & (fitted.time_constants_ < high))
    assert [block.tolist() for block in fitted.blocks_] == [[0], [1], [2]]


def test_a_saved_one_comes_back(seen, fitted, tmp_path):
    again = ContrastiveICA.load(fitted.save(tmp_path / "ica"))
    np.testing.assert_array_equal(again.transform(seen[1][:50]), fitted.transform(seen[1][:50]))
    assert again.space_ == "flat"
    assert again.space_evidence_ == fitted.space_evidence_
    np.testing.assert_array_equal(again.time_constants_, fitted.time_constants_)
    assert again.score(seen[1]) == pytest.approx(fitted.score(seen[1]))


def test_factors_of_equal_concentration_are_separated_by_their_innovations():
    z, x = recording(np.array([0.8, 0.8, 0.97]), n=12_000, law="laplace")
    ica = ContrastiveICA(3, space="flat", max_steps=400, patience=None, **SMALL).fit(x)
    assert mean_correlation_coefficient(z, ica.transform(x)).mean > 0.93
    assert len(ica.blocks_) == 3


def test_gaussian_factors_of_equal_concentration_stay_in_one_block():
    _, x = recording(np.array([0.8, 0.8, 0.97]))
    ica = ContrastiveICA(3, space="flat", max_steps=300, patience=None, **SMALL).fit(x)
    assert [block.tolist() for block in ica.blocks_] == [[0, 1], [2]]


def test_the_papers_sphere_is_found_and_kept():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(6000, 3))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    later = z + rng.normal(size=z.shape) / np.sqrt([8.0, 20.0, 50.0])
    later /= np.linalg.norm(later, axis=1, keepdims=True)
    ica = ContrastiveICA(3, space="auto", max_steps=300, patience=None, **SMALL).fit(z, later)
    assert ica.space_ == "sphere"
    e = ica.transform(z)
    np.testing.assert_allclose(np.linalg.norm(e, axis=1), 1.0, rtol=1e-5)
    assert linear_r2(z, e).mean > 0.97
    assert ica.time_constants_ is None


def test_potentials_follow_when_columns_change_places(seen, fitted):
    """Λ̂, columns and β belong together: bits on fresh rows would fall if one of them stayed behind."""

    assert fitted.score(seen[1]) > 2.0


def test_one_column_is_enough(seen):
    z, x = seen
    ica = ContrastiveICA(1, space="flat", max_steps=150, patience=None, **SMALL).fit(x)
    assert linear_r2(ica.transform(x), z).per_dimension[0] > 0.8
    with pytest.raises(ValueError, match="`n_components` must be a whole number of at least 2"):
        ContrastiveICA(1, space="sphere").fit(x)
