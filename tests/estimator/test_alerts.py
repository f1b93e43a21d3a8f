"""Every warning is of one class, points at the caller and says what to do; good data give none."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import aninfonce
from aninfonce import ContrastiveICAWarning
from aninfonce.estimator import alerts
from aninfonce.estimator.pairs import augmented, lagged
from aninfonce.estimator.pairs import make_pairs as paired
from aninfonce.training.early_stopping import EarlyStopping
from tests.estimator.small import frames, make_pairs, quick


def said(call, *arguments):
    """List what a call warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*arguments)
    assert all(issubclass(warning.category, ContrastiveICAWarning) for warning in caught)
    return [str(warning.message) for warning in caught]


def given(X, X_pos):
    return paired(frames(X), None, X_pos, (1,), None)[0]


def outcome(values, interval, *, folded=False, space="flat"):
    return SimpleNamespace(
        start_residual_=None,
        folded_=folded,
        space_=space,
        concentration_=np.array(values),
        concentration_interval_=np.array(interval),
    )


def test_one_class_for_all_of_them():
    assert aninfonce.ContrastiveICAWarning is alerts.ContrastiveICAWarning
    assert issubclass(ContrastiveICAWarning, UserWarning)


def test_a_warning_points_at_the_line_that_called():
    X, X_pos = make_pairs(300)
    with pytest.warns(ContrastiveICAWarning) as caught:
        quick(max_steps=2).fit(X * 3 + 5, X_pos)
    assert "differ in mean or scale" in str(caught[0].message)
    assert {warning.filename for warning in caught} == {__file__}


def test_positives_of_another_mean_or_scale():
    X, X_pos = make_pairs(300)
    assert said(alerts.warn_about_positives, given(X, X_pos)) == []
    for other in (X * 3, X + 5, X / 3, X * [1, 1, 4], 100 * X + 1e4):
        (message,) = said(alerts.warn_about_positives, given(other, X_pos))
        assert "transform X_pos yourself" in message
    assert "1 of 3 columns (column 2:" in said(alerts.warn_about_positives, given(X * [1, 1, 4], X_pos))[0]
    # A constant column is the same in both.
    assert said(alerts.warn_about_positives, given(X * [1, 0, 1], X_pos * [1, 0, 1])) == []


def test_a_pipeline_that_scales_one_side_only():
    X, X_pos = (50.0 + 10.0 * part for part in make_pairs(300))
    pipeline = make_pipeline(StandardScaler(), quick(max_steps=2))
    assert "a pipeline transforms X only" in said(pipeline.fit, X, X_pos)[0]


def test_positives_that_are_the_anchors():
    X, _ = make_pairs(300)
    (message,) = said(alerts.warn_about_positives, given(X, X.copy()))
    assert message.startswith("X_pos equals X in 100% of the rows")
    assert "augment(X)" in said(alerts.warn_about_positives, augmented(frames(X), np.copy))[0]
    still = np.repeat(X, 4, axis=0)
    assert "1 rows later" in said(alerts.warn_about_positives, lagged(frames(still), 1))[0]
    assert said(alerts.warn_about_positives, lagged(frames(still), 4)) == []


@pytest.mark.parametrize(
    ("features", "columns", "space", "most"),
    [(6, 10, "sphere", 7), (6, 10, "unbounded", 6), (3, 5, "learnable-sphere", 4)],
)
def test_more_columns_than_the_data_can_hold(features, columns, space, most):
    rng = np.random.default_rng(0)
    # Twelve features of which only some are free.
    X = rng.normal(size=(2000, features)) @ rng.normal(size=(features, 12))
    (message,) = said(alerts.warn_about_size, lagged(frames(X), 1), columns, space)
    assert f"along {features} independent direction(s)" in message
    assert f"Try n_components={most}" in message
    assert ("d columns hold d − 1 free factors" in message) == (space != "unbounded")
    assert said(alerts.warn_about_size, lagged(frames(X), 1), most, space) == []


def test_the_scale_of_columns_is_not_their_rank():
    X = np.random.default_rng(0).normal(size=(2000, 3)) * [1.0, 1e-9, 1e6] + [0.0, 1.0, 1e9]
    assert said(alerts.warn_about_size, lagged(frames(X), 1), 3, "unbounded") == []


def test_few_pairs():
    X, X_pos = make_pairs(549)
    (message,) = said(alerts.warn_about_size, given(X[:99], X_pos[:99]), 3, "sphere")
    assert "99 pairs are few" in message
    assert "at least 100" in message
    assert "at least 550" in said(alerts.warn_about_size, given(X, X_pos), 10, "sphere")[0]
    assert said(alerts.warn_about_size, given(X, X_pos), 3, "sphere") == []


def test_columns_in_which_pairs_share_nothing():
    (message,) = said(
        alerts.warn_about_outcome, outcome([0.0, 0.3, 30.0], [[0.0, 9.0], [0.0, 1.1], [20.0, 40.0]])
    )
    assert "Λ̂ is 0 in column(s) 0, 1" in message
    assert "Try n_components=1," in message
    on_sphere = outcome([0.0, 30.0], [[0.0, 1.1], [20.0, 40.0]], space="sphere")
    assert "Try n_components=2," in said(alerts.warn_about_outcome, on_sphere)[0]
    # In flat space there need be no column that pairs share to hold the others against.
    (message,) = said(alerts.warn_about_outcome, outcome([0.03, 0.13], [[0.0, 0.2], [0.0, 0.3]]))
    assert "cannot be told from 0 in any column" in message
    # Not known well enough to tell: no reason to say that it is 0.
    unsure = outcome([4.0, 30.0], [[0.0, 9.0], [20.0, 40.0]])
    assert said(alerts.warn_about_outcome, unsure) == []


def test_a_sign_that_was_lost():
    (message,) = said(alerts.warn_about_outcome, outcome([1.0], [[0.5, 2.0]], folded=True))
    assert "`folded_`" in message
    assert "n_components" in message
    assert said(alerts.warn_about_outcome, outcome([1.0], [[0.5, 2.0]], folded=None)) == []


def test_steps_that_were_thrown_away():
    stopping = EarlyStopping(lambda *_: 0.0)
    stopping.best_step, stopping.best_score, stopping.scores = 40, 3.0, [1.0, 3.0, 2.95]
    assert said(alerts.warn_about_thrown_away, stopping, 100, 100) == []
    (early,) = said(alerts.warn_about_thrown_away, stopping, 240, 2000)
    assert "best at step 40 of 240" in early
    assert "1760 of the 2000" in early
    stopping.scores = [1.0, 3.0, 2.5]
    (late,) = said(alerts.warn_about_thrown_away, stopping, 100, 100)
    assert "not taken" not in late


def test_broken_pairs_are_told_of_and_good_ones_are_not():
    X, X_pos = make_pairs(1000)
    options = {"max_steps": 100, "batch_size": 256, "encoder_options": {"width": 32, "depth": 2}}
    assert said(quick(**options).fit, X, X_pos) == []
    order = np.random.default_rng(0).permutation(1000)
    assert any("pairs share nothing" in message for message in said(quick(**options).fit, X, X_pos[order]))


def test_pictures_of_another_scale_are_told_by_channel():
    x = np.random.default_rng(0).normal(size=(50, 2, 4, 4))
    x[:, :, 0, 0] = 0.0  # a pixel that only positives have
    x_pos = x + 0.1 * np.random.default_rng(1).normal(size=x.shape)
    assert said(alerts.warn_about_positives, given(x, x_pos)) == []
    assert "in 2 of 2 channels (channel 0:" in said(alerts.warn_about_positives, given(x, 5 * x_pos))[0]
