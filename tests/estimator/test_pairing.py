"""Several lags, and pairs of rows that come later."""

import numpy as np
import pytest
from scipy.signal import lfilter
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.pipeline import make_pipeline

from aninfonce.metrics import mean_correlation_coefficient
from tests.estimator.small import UNFINISHED, autoregressive, make_pairs, quick

pytestmark = UNFINISHED


def alike(n=4000, seed=0):
    """Two Gaussian factors of the same correlation over one row, .8, and others over two: .64 and .35."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n + 300, 2))
    one = lfilter([1.0], [1.0, -0.8], noise[:, 0])[300:]
    other = lfilter([1.0], [1.0, -1.44, 0.8], noise[:, 1])[300:]
    z = np.stack([one / one.std(), other / other.std()], axis=1)
    turn = np.pi / 5
    return z, z @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]


def test_what_one_lag_cannot_tell_apart_another_does():
    z, X = alike()
    options = {"space": "flat", "max_steps": 150, "batch_size": 256}
    one, both = (quick(n_components=2, lag=lag, **options).fit(X) for lag in (1, (1, 2)))
    # At lag 1 nothing but chance says which rotation is right, and the estimator knows.
    assert [block.tolist() for block in one.blocks_] == [[0, 1]]
    assert [block.tolist() for block in both.blocks_] == [[0], [1]]
    assert mean_correlation_coefficient(z, both.transform(X)).mean > 0.99
    truth = np.array([[0.8, 0.8], [0.64, 0.352]])
    order = np.argsort(-both.concentrations_[1])
    np.testing.assert_allclose(both.concentrations_[:, order], truth / (1 - truth**2), rtol=0.25)
    assert both.concentrations_.shape == (2, 2)
    assert both.concentrations_interval_.shape == (2, 2, 2)
    np.testing.assert_array_equal(both.concentration_, both.concentrations_[0])
    assert both.lag_ == both.lags_ == (1, 2)
    assert np.isfinite(both.score(X))


def test_several_lags_train_on_and_other_losses_have_none():
    _, X = autoregressive([0.3, 0.9], 300)
    ica = quick(n_components=2, lag=(1, 3), batch_size=50).partial_fit(X).partial_fit(X)
    assert ica.concentrations_.shape == (2, 2)
    with pytest.raises(ValueError, match="`loss` must be 'aninfonce' for several lags, got 'infonce'"):
        quick(n_components=2, lag=(1, 3), loss="infonce").fit(X)


@pytest.mark.parametrize("space", ["sphere", "unbounded", "box"])
def test_several_lags_are_for_flat_space(space):
    _, X = autoregressive([0.3, 0.9], 300)
    with pytest.raises(ValueError, match="`space` must be 'flat' or 'auto' for several lags, got"):
        quick(n_components=2, lag=(1, 3), space=space).fit(X)


def test_pairs_of_later_rows_are_made_as_they_were():
    _, X = autoregressive([0.3, 0.9], 300)
    ica = quick(n_components=2, lag=(1, 3), window=1).fit(X)
    kinds = ica.pairs_like_fit([X[:40], X[40:100]])
    assert [pairs.lag for pairs in kinds] == [1, 3]
    assert [len(pairs) for pairs in kinds] == [98, 94]
    with pytest.raises(ValueError, match=r"shorter than every session, got 3 and X with n_samples=3"):
        ica.score(X[:3])


def test_searches_over_lag_and_columns():
    _, X = autoregressive([0.3, 0.9], 300)
    grid = {"lag": [1, (1, 3)], "n_components": [1, 2]}
    search = GridSearchCV(quick(max_steps=5), grid, cv=TimeSeriesSplit(2)).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.lag_ == search.best_params_["lag"]
    assert search.transform(X).shape == (300, search.best_params_["n_components"])


def test_two_stages_in_a_pipeline():
    _, X = autoregressive([0.3, 0.9, 0.95], 300)
    stages = make_pipeline(quick(n_components=3), quick(n_components=2, lag=4))
    embedded = stages.fit_transform(X)
    assert embedded.shape == (300, 2)
    assert (stages[0].lag_, stages[1].lag_) == (1, 4)


def test_a_lag_is_not_for_given_pairs():
    X, X_pos = make_pairs(100)
    ica = quick(lag=2).fit(np.cumsum(X, axis=0))
    # What was fitted on a recording can still be asked about pairs.
    assert np.isfinite(ica.score(X, X_pos))


def test_columns_of_positives_in_another_order_are_refused():
    """They were paired by their places, without a word."""
    pd = pytest.importorskip("pandas")
    X, X_pos = make_pairs(200)
    frame, other = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(X_pos, columns=list("cba"))
    ica = quick(max_steps=3)
    for positives in ({"X_pos": other}, {"y": other}):
        with pytest.raises(ValueError, match=r"`X_pos` must have the columns of X in their order, \['a'"):
            ica.fit(frame, **positives)
    ica.fit(frame, X_pos)
    assert np.isfinite(ica.score(frame, X_pos=other[list("abc")]))
    with pytest.raises(ValueError, match="`X_pos` must have the columns of X"):
        ica.score(frame, X_pos=other)
