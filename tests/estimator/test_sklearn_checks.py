"""scikit-learn's own checks of an estimator, and the tools that users combine it with."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from aninfonce.estimator import ContrastiveICA
from tests.estimator.small import QUICK, UNFINISHED, make_pairs, quick

pytestmark = UNFINISHED


@parametrize_with_checks(
    # Without the closing fits, which take most of so short a run.
    [
        ContrastiveICA(
            **{
                **QUICK,
                "max_steps": 4,
                "recipe": {"close": None},
                "encoder_options": {"width": 8, "depth": 1},
            }
        )
    ],
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("rows", [slice(0, 1), slice(0, 37), slice(None, None, -1)])
def test_rows_are_transformed_one_by_one(rows):
    """Neither order nor company of a row matters."""
    X, X_pos = make_pairs()
    ica = quick().fit(X, X_pos)
    before = ica.__dict__.keys()
    whole = ica.transform(X)
    assert ica.__dict__.keys() == before
    np.testing.assert_allclose(ica.transform(X[rows]), whole[rows], atol=1e-12)
    np.testing.assert_allclose(ica.transform(X, batch_size=7), whole, atol=1e-12)


def test_one_feature():
    X = np.random.default_rng(0).normal(size=(50, 1))
    for columns in (1, 2):
        assert quick(n_components=columns).fit(X).transform(X).shape == (50, columns)


def test_in_a_pipeline():
    X, _ = make_pairs()
    pipeline = make_pipeline(PCA(3), quick(lag=2), Ridge())
    pipeline.fit(X, X[:, 0])
    assert pipeline[1].lag_ == 2
    assert pipeline.predict(X).shape == (400,)
    names = pipeline[:2].get_feature_names_out()
    assert list(names) == ["contrastiveica0", "contrastiveica1", "contrastiveica2"]


@pytest.mark.parametrize("loss_options", [None, {"potential": True}])
def test_clones_are_equal(loss_options):
    X, X_pos = make_pairs()
    ica = quick(loss_options=loss_options).fit(X, X_pos)
    again = clone(ica)
    assert not hasattr(again, "encoder_")
    np.testing.assert_array_equal(again.fit(X, X_pos).transform(X), ica.transform(X))


def test_searches_split_the_pairs_together():
    """`y` of the shape of X is positives, so that every fold keeps its pairs."""
    X, X_pos = make_pairs()
    search = GridSearchCV(quick(), {"max_steps": [2, 60]}, cv=2).fit(X, X_pos)
    assert search.best_params_ == {"max_steps": 60}
    assert search.best_score_ > 1
    assert search.transform(X).shape == (400, 3)


def test_searches_over_a_recording():
    X, _ = make_pairs()
    scores = cross_val_score(quick(max_steps=5), np.cumsum(X, axis=0), cv=TimeSeriesSplit(2))
    assert np.isfinite(scores).all()
