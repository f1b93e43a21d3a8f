"""Λ̂ of single rows by the estimator: right where steps depend on where they start, on disk and back."""

import numpy as np
import pytest

from aninfonce.estimator import ContrastiveICA
from aninfonce.estimator.pairs import paired
from aninfonce.estimator.settings import checked, linear_settings, training_config
from aninfonce.metrics import mean_correlation_coefficient
from tests.estimator.small import frames

BASE = np.array([4.0, 12.0, 36.0])


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    z = rng.uniform(-(3**0.5), 3**0.5, size=(3000, 3))
    values = BASE * 16.0 ** (np.array([1.0, -1.0, 1.0]) * z[:, :1] / (2 * 3**0.5))
    z_pos = z + rng.normal(size=z.shape) / np.sqrt(values)
    mix = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return np.sinh(z @ mix), np.sinh(z_pos @ mix), z, values


def model(**changes):
    settings = {"max_steps": 150, "batch_size": 256, "random_state": 0, "device": "cpu"}
    return ContrastiveICA(3, **{"concentration": "per-anchor", **settings, **changes})


@pytest.fixture(scope="module")
def fitted(pairs):
    return model().fit(*pairs[:2])


def test_rows_have_their_own(pairs, fitted):
    x, _, z, values = pairs
    assert fitted.space_ == "flat"
    found = fitted.concentration_at(x)
    assert found.shape == z.shape
    assert mean_correlation_coefficient(z, fitted.transform(x)).mean > 0.9
    # Columns are latents up to sign and order: the Λ of each is that of the latent it follows.
    match = np.abs(np.corrcoef(z.T, fitted.transform(x).T)[:3, 3:]).argmax(axis=0)
    for column, latent in enumerate(match):
        assert np.corrcoef(np.log(found[:, column]), np.log(values[:, latent]))[0, 1] > 0.8
        np.testing.assert_allclose(np.median(found[:, column]), np.median(values[:, latent]), rtol=0.5)


def test_it_is_the_same_after_a_way_over_the_disk(pairs, fitted, tmp_path):
    fitted.save(tmp_path / "kept")
    other = ContrastiveICA.load(tmp_path / "kept")
    np.testing.assert_array_equal(other.concentration_at(pairs[0]), fitted.concentration_at(pairs[0]))
    assert other.score(*pairs[:2]) == pytest.approx(fitted.score(*pairs[:2]), abs=1e-5)


def test_with_one_for_all_every_row_has_it(pairs):
    x, x_pos, *_ = pairs
    one = model(concentration="one", space="flat", max_steps=20).fit(x, x_pos)
    np.testing.assert_allclose(one.concentration_at(x[:5]), np.tile(one.concentration_, (5, 1)))
    sessions = one.concentration_at([x[:5], x[5:9]])
    assert [len(part) for part in sessions] == [5, 4]


def test_it_starts_from_a_linear_map_with_one_for_all():
    """Or the head would make up for what a linear map cannot bend back."""
    by_option = model(concentration="one", loss_options={"concentration": "per-anchor", "temperature": 0.5})
    for estimator in (model(), by_option):
        parameters = checked(estimator.get_params(deep=False))
        assert parameters["concentration"] == "per-anchor"
        kinds = [paired(frames(np.zeros((1000, 3))), np.zeros((1000, 3)))]
        assert training_config(kinds, parameters, 0).loss.per_anchor
        assert not training_config(kinds, linear_settings(parameters), 0).loss.per_anchor
    assert by_option.loss_options["concentration"] == "per-anchor"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"concentration": "both"}, "`concentration`"),
        ({"loss": "infonce"}, "`loss`"),
        ({"dynamics": "linear"}, "`dynamics`"),
    ],
)
def test_what_does_not_go_with_it_is_refused_by_name(pairs, changes, name):
    with pytest.raises(ValueError, match=name):
        model(**changes).fit(*pairs[:2])
