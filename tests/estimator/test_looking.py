"""What a fitted estimator shows."""

import numpy as np
import pytest
import sklearn
import torch
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from aninfonce.estimator import ContrastiveICA
from aninfonce.estimator.by_row import mean_absolute_jacobian
from aninfonce.estimator.choosing import ChoiceCurve
from tests.estimator.small import UNFINISHED, make_pairs, quick

pytestmark = UNFINISHED
METHODS = {
    "plot_concentration": (),
    "plot_embedding": (np.eye(3),),
    "plot_held_out": (),
    "plot_choice": (),
    "attribution": (np.eye(3),),
    "inverse": (np.eye(3), np.eye(3)),
}


@pytest.fixture(scope="module")
def pairs():
    return make_pairs()


@pytest.fixture(scope="module")
def fitted(pairs):
    return quick().fit(*pairs)


@pytest.fixture(scope="module")
def recording():
    """A recording in flat space: two factors that forget at different rates."""
    rng = np.random.default_rng(0)
    z = np.zeros((600, 2))
    for t in range(1, 600):
        z[t] = np.array([0.3, 0.9]) * z[t - 1] + rng.normal(size=2)
    x = z @ rng.normal(size=(2, 3))
    return quick(n_components=2, space="flat").fit(x), x


@pytest.mark.parametrize("name", METHODS)
def test_nothing_is_shown_before_fit(name):
    with pytest.raises(NotFittedError):
        getattr(quick(), name)(*METHODS[name])


def test_concentration_is_drawn(fitted):
    (axes,) = fitted.plot_concentration().axes
    drawn = np.concatenate([line.get_xydata() for line in axes.lines if len(line.get_xydata())])
    values = dict(drawn[np.argsort(drawn[:, 1], kind="stable")])  # arrows at the end of the axis come first
    np.testing.assert_allclose([values[k] for k in range(3)], fitted.concentration_)
    assert axes.get_ylabel().startswith("Λ̂")
    with pytest.raises(ValueError, match="`as_time` must be False here"):
        fitted.plot_concentration(as_time=True)
    with pytest.raises(ValueError, match="`seconds_per_row` must be None where Λ̂ is drawn"):
        fitted.plot_concentration(seconds_per_row=0.1)


def test_a_recording_tells_time(recording):
    ica, _ = recording
    rows, seconds, plain = (
        ica.plot_concentration(**kwargs).axes[0]
        for kwargs in ({}, {"seconds_per_row": 0.05}, {"as_time": False})
    )
    assert rows.get_ylabel() == "time constant [rows]\n95 % interval"
    assert seconds.get_ylabel() == "time constant [seconds]\n95 % interval"
    assert plain.get_ylabel() == "Λ̂, 95 % interval"
    np.testing.assert_allclose(seconds.lines[0].get_ydata(), 0.05 * rows.lines[0].get_ydata())
    with pytest.raises(ValueError, match="`seconds_per_row` must be a finite number above 0, got 0"):
        ica.plot_concentration(seconds_per_row=0)


def test_an_embedding_is_drawn_and_written_as_a_page(fitted, pairs, tmp_path):
    X, _ = pairs
    axes = fitted.plot_embedding(X, X[:, 0], label="first", columns=(2, 1)).axes
    np.testing.assert_allclose(axes[0].collections[0].get_offsets(), fitted.transform(X)[:, [2, 1]])
    assert axes[1].get_ylabel() == "first"
    path = fitted.save_embedding_page(tmp_path / "new" / "page.html", X, X[:, 0] > 0, title="Mine")
    assert "<h1>Mine</h1>" in path.read_text(encoding="utf-8")
    assert "400 rows" in path.read_text(encoding="utf-8")


def test_output_as_a_frame_is_drawn_too(fitted, pairs):
    pytest.importorskip("pandas")
    framed = quick().set_output(transform="pandas").fit(*pairs)
    drawn = framed.plot_embedding(pairs[0]).axes[0].collections[0].get_offsets()
    np.testing.assert_allclose(drawn, fitted.transform(pairs[0])[:, :2])
    np.testing.assert_array_equal(framed.inverse(framed.transform(pairs[0])[3:5], pairs[0]), pairs[0][3:5])


def test_a_curve_in_one_space_has_one_part(recording):
    figure = recording[0].plot_held_out()
    (axes,) = figure.axes
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), recording[0].held_out_curve_)
    assert not figure.legends


def test_the_held_out_curve_is_drawn(fitted, pairs):
    figure = fitted.plot_held_out()
    (axes,) = figure.axes
    flat, sphere = axes.lines[:2]
    drawn = np.concatenate([flat.get_ydata(), sphere.get_ydata()])
    np.testing.assert_array_equal(drawn, fitted.held_out_curve_)
    assert [text.get_text() for text in figure.legends[0].texts] == ["in flat space", "on the sphere"]
    assert f"kept: step {fitted.best_step_}" in [text.get_text() for text in axes.texts]
    with pytest.raises(ValueError, match="nothing was held out"):
        quick(validation_fraction=0.0).fit(*pairs).plot_held_out()


def test_a_choice_is_drawn(pairs):
    ica = quick(max_steps=2).fit(*pairs)
    with pytest.raises(ValueError, match="neither `n_components` nor `lag` was chosen by `fit`"):
        ica.plot_choice()
    ica.lag_curve_ = ChoiceCurve(np.array([1, 2]), np.array([0.5, 0.4]), np.array([0.1, 0.1]), 1)
    assert ica.plot_choice().axes[0].get_xlabel() == "lag [rows]"
    ica.n_components_curve_ = ChoiceCurve(np.array([2, 3]), np.array([0.5, 0.9]), np.array([0.1, 0.1]), 3)
    assert ica.plot_choice().axes[0].get_xlabel() == "number of columns"
    assert ica.plot_choice("lag").axes[0].texts[0].get_text() == "taken: 1"
    with pytest.raises(ValueError, match="`which` must be one of 'n_components', 'lag'"):
        ica.plot_choice("lags")


# ---------------------------------------------------------------------- attribution


def test_attribution_of_a_linear_encoder_is_its_matrix():
    rng = np.random.default_rng(0)
    weight, x = rng.normal(size=(3, 5)), rng.normal(size=(101, 5)) * [1.0, 10.0, 0.1, 2.0, 0.0] + 1e6
    linear = nn.Linear(5, 3).double()
    with torch.no_grad():
        linear.weight.copy_(torch.from_numpy(weight))
    for size in (7, 101, 1000):
        found = mean_absolute_jacobian(linear, x, batch_size=size)
        np.testing.assert_allclose(found, np.abs(weight) * x.std(axis=0), rtol=1e-12)
    assert all(p.grad is None and p.requires_grad for p in linear.parameters())


def test_attribution_of_a_bent_encoder_is_that_of_differences(fitted, pairs):
    X = pairs[0][:20]
    step, moved = 1e-6, []
    for column in range(3):
        ends = [fitted.transform(X + sign * step * np.eye(3)[column]) for sign in (1, -1)]
        moved.append(np.abs(ends[0] - ends[1]).mean(axis=0) / (2 * step) * X[:, column].std())
    np.testing.assert_allclose(fitted.attribution(X, batch_size=6), np.stack(moved, axis=1), rtol=1e-4)


def test_attribution_finds_the_input_of_each_factor():
    """Each factor has an input of its own: an encoder that tells the factors apart reads no other."""
    rng = np.random.default_rng(1)
    phi = np.array([0.4, 0.95])
    z = np.zeros((3000, 2))
    for t in range(1, len(z)):
        z[t] = phi * z[t - 1] + rng.normal(size=2) * np.sqrt(1 - phi**2)
    x = np.tanh(0.7 * z) * [1.0, 9.0]
    options = {"encoder_options": {"width": 64, "depth": 2}, "max_steps": 300, "batch_size": 256}
    found = quick(n_components=2, space="flat", **options).fit(x).attribution(x[:1000])
    assert found[0, 0] > 2 * found[0, 1]
    assert found[1, 1] > 2 * found[1, 0]


def test_attribution_refuses_other_inputs(fitted):
    with pytest.raises(ValueError, match="features"):
        fitted.attribution(np.ones((4, 7)))
    with pytest.raises(ValueError, match="`batch_size` must be a whole number of at least 1"):
        fitted.attribution(np.ones((4, 3)), batch_size=0)


# ---------------------------------------------------------------------- the way back


def test_inverse_gives_the_rows_that_were_embedded_there(fitted, pairs):
    X, _ = pairs
    z = fitted.transform(X)
    np.testing.assert_array_equal(fitted.inverse(z[5:9], X), X[5:9])
    order = np.argsort(np.linalg.norm(z - z[7], axis=1))[:4]
    np.testing.assert_allclose(fitted.inverse(z[7:8], X, n_neighbors=4), X[order].mean(axis=0)[None])


@pytest.mark.parametrize(
    ("Z", "neighbours", "message"),
    [
        (np.ones((2, 4)), 1, r"`Z` must be finite and of shape \(M, 3\), got ndarray of shape \(2, 4\)"),
        (np.full((2, 3), np.nan), 1, "`Z` must be finite"),
        (np.ones((2, 3)), 401, "`n_neighbors` must be at most the 400 rows of X, got 401"),
        (np.ones((2, 3)), 0, "`n_neighbors` must be a whole number of at least 1"),
    ],
)
def test_inverse_refuses_what_is_not_an_embedding(fitted, pairs, Z, neighbours, message):
    with pytest.raises(ValueError, match=message):
        fitted.inverse(Z, pairs[0], n_neighbors=neighbours)


# ---------------------------------------------------------------------- in a notebook


def shown(estimator):
    return estimator._repr_html_(), estimator._repr_mimebundle_()["text/html"]


def test_a_notebook_shows_what_was_found(fitted):
    for text in shown(fitted):
        assert "sk-top-container" in text
        assert text.count("<svg ") == 1
        assert "<td style" in text
        for value, (low, high) in zip(fitted.concentration_, fitted.concentration_interval_, strict=True):
            assert f">{value:.3g}</td>" in text
            assert f">{low:.3g} to {high:.3g}</td>" in text
        assert "time constant" not in text


def test_a_recording_shows_its_time_constants(recording):
    ica, _ = recording
    for text in shown(ica):
        assert "time constant [rows]" in text
        assert f">{ica.time_constants_[1]:.3g}</td>" in text


def test_before_fit_it_is_scikit_learns_own():
    for text in shown(ContrastiveICA(3)):
        assert "sk-top-container" in text
        assert "<svg" not in text.split("</style>")[-1]
        assert "95 % interval" not in text


def test_numbers_that_are_not_finite_are_shown_all_the_same(pairs):
    ica = quick().fit(*pairs)
    ica.concentration_interval_[0, 1] = np.inf
    ica.held_out_curve_[0] = -np.inf
    for text in shown(ica):
        assert " to inf</td>" in text
        assert "Λ̂ of each column" not in text
    drawn = np.concatenate([line.get_ydata() for line in ica.plot_held_out().axes[0].lines[:2]])
    np.testing.assert_array_equal(drawn, ica.held_out_curve_[1:])


def test_in_a_pipeline_and_as_text(fitted, pairs):
    assert "ContrastiveICA" in make_pipeline(StandardScaler(), fitted)._repr_html_()
    with sklearn.config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert "text/html" not in fitted._repr_mimebundle_()


def test_windows_sessions_and_gaps_are_shown(tmp_path):
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(200, 3)), axis=0)
    X[50, 1] = np.nan
    ica = quick(n_components=2, window=3, gaps="skip").fit(X)
    assert ica.attribution(X).shape == (2, 3)
    sessions = [X[:80], X[80:]]
    drawn = ica.plot_embedding(sessions).axes[0].collections[0].get_offsets()
    z = np.concatenate(ica.transform(sessions))
    kept = np.isfinite(z).all(axis=1)
    assert kept.sum() == 197
    np.testing.assert_allclose(drawn, z[kept])
    page = ica.save_embedding_page(tmp_path / "page.html", X, np.arange(200))
    assert "197 rows" in page.read_text(encoding="utf-8")
    rows = ica.inverse(z[kept][[3, 100]], sessions)
    np.testing.assert_array_equal(rows, X[kept][[3, 100]])
    with pytest.raises(ValueError, match="`color`"):
        ica.plot_embedding(X, np.arange(199))
