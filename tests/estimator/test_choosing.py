"""What is chosen by held-out bits: the number of columns, and a network or a linear map."""

from types import SimpleNamespace

import numpy as np
import pytest

from aninfonce.estimator import ContrastiveICA, choosing
from aninfonce.estimator.choosing import NonlinearGain, choose_columns
from aninfonce.estimator.pairs import lagged
from aninfonce.estimator.settings import linear_settings
from aninfonce.metrics import linear_r2
from tests.estimator.small import UNFINISHED, autoregressive, frames, make_pairs, quick

pytestmark = UNFINISHED
ENOUGH = {"max_steps": 400, "batch_size": 256, "encoder_options": {"width": 32, "depth": 2}}


@pytest.mark.parametrize("bent", [False, True])
def test_three_factors_have_three_columns(bent):
    """Four channels, three factors.

    A fourth column that tells nothing is kept if it happens to be ahead by two standard errors: 2 % of the
    time if it neither helped nor harmed. The third factor, φ = .5, brings .2 bits, many times that.
    """
    z, X = autoregressive([0.5, 0.8, 0.95], 3000, channels=4)
    if not bent:
        X = z @ np.random.default_rng(1).normal(size=(3, 4))
    ica = quick(n_components="auto", space="flat", **ENOUGH).fit(X)
    curve = ica.n_components_curve_
    assert curve.chosen == ica.concentration_.shape[0] == ica.transform(X).shape[1] == 3
    assert curve.candidates.tolist() == [1, 2, 3, 4]
    assert (np.diff(curve.scores[:3]) > 2 * curve.errors[:2]).all()
    assert len(ica.get_feature_names_out()) == 3
    assert ica.plot_choice().axes[0].get_xlabel() == "number of columns"


def scripted(monkeypatch, scores, channels=8, space="flat"):
    """Let numbers of columns have given scores (one list of blocks each); tell which were tried."""
    tried = []

    def train(kinds, parameters, seed):
        tried.append(parameters["n_components"])
        return SimpleNamespace(columns=parameters["n_components"], held_out=kinds)

    monkeypatch.setattr(choosing, "train", train)
    monkeypatch.setattr(choosing, "held_out_bits", lambda run: np.array(scores[run.columns - 1]))
    X = np.random.default_rng(0).normal(size=(40, channels))
    parameters = {"space": space, "loss": "aninfonce"}
    run, curve = choose_columns([lagged(frames(X), 1)], parameters, 0)
    assert run.columns == curve.chosen
    return curve, tried


def test_ties_go_to_the_fewer(monkeypatch):
    """Blocks of the same pairs are compared: what they have in common is no error."""
    common = np.array([0.0, 3.0, -2.0, 1.0])
    noise = 0.1 * np.array([1.0, -1.0, 0.5, -0.5])
    scores = [1.0 + common, 2.0 + common + noise, 2.01 + common, 2.0 + common, 1.9 + common]
    curve, tried = scripted(monkeypatch, scores)
    assert curve.chosen == 2
    assert tried == [1, 2, 3, 4, 5]
    assert curve.errors[0] == pytest.approx(0.0, abs=1e-12)
    # The same lead beyond two errors is no tie.
    scores[1] = 2.0 + common + 0.01 * noise
    assert scripted(monkeypatch, scores)[0].chosen == 3


def test_the_search_ends_where_two_in_a_row_are_in_vain(monkeypatch):
    rising = [np.array([k, k + 0.1]) for k in range(8)]
    assert scripted(monkeypatch, rising)[0].candidates.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    flat = [np.array([1.0, 1.1])] * 8
    curve, tried = scripted(monkeypatch, flat)
    assert (curve.chosen, tried) == (1, [1, 2, 3])
    # Later in larger steps, never beyond the columns of the data.
    many = [np.array([k, k + 0.1]) for k in range(20)]
    assert scripted(monkeypatch, many, channels=20)[1] == [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18]


def test_a_choice_needs_something_held_out():
    X, X_pos = make_pairs(50)
    with pytest.raises(ValueError, match=r"`n_components` must be a number where pairs are too few"):
        quick(n_components="auto").fit(X, X_pos)


def test_columns_are_chosen_for_pairs_and_windows_too():
    X, X_pos = make_pairs(300)
    ica = quick(n_components="auto", max_steps=10).fit(X, X_pos)
    assert 1 <= ica.n_components_curve_.chosen <= 3
    _, rows = autoregressive([0.9], 200, channels=1)
    ica = quick(n_components="auto", window=3, max_steps=10).fit(rows)
    assert ica.n_components_curve_.candidates.max() <= 3


def test_on_a_sphere_the_search_begins_with_two_columns(monkeypatch):
    """It began with one, which a sphere does not have, and ended there."""
    _, tried = scripted(monkeypatch, [[9.0], [1.0], [1.5], [1.0], [1.0], [1.0]], space="sphere")
    assert tried == [2, 3, 4, 5]


def recording(bent, rows=3000, seed=0):
    """Three sources of different speed in six channels."""
    rng = np.random.default_rng(seed)
    phi = np.array([0.5, 0.8, 0.97])
    z = np.zeros((rows, 3))
    for t in range(1, rows):
        z[t] = phi * z[t - 1] + np.sqrt(1 - phi**2) * rng.normal(size=3)
    mixed = z @ np.random.default_rng(7).normal(size=(3, 6))
    return z, np.where(mixed > 0, mixed, 0.2 * mixed) if bent else mixed


def test_a_linear_mixture_is_undone_by_a_linear_map():
    z, x = recording(bent=False)
    ica = ContrastiveICA(3, random_state=0, device="cpu").fit(x[:2400])
    assert ica.nonlinear_gain_.linear
    # What PCA reads, and not what a network makes of 2000 pairs.
    assert linear_r2(z[2400:], ica.transform(x[2400:])).mean > 0.9999
    assert (ica.space, ica.space_, ica.config_.encoder.options["depth"]) == ("auto", "flat", 0)
    assert ica.space_evidence_.radial_spread > ica.space_evidence_.limit


def test_a_bent_mixture_is_not():
    x = recording(bent=True)[1]
    ica = ContrastiveICA(3, random_state=0, device="cpu").fit(x[:2400])
    gain = ica.nonlinear_gain_
    assert gain == NonlinearGain(gain.bits, gain.error, linear=False)
    assert gain.bits > 2 * gain.error > 0
    assert "depth" not in ica.config_.encoder.options


@pytest.mark.parametrize(
    "changes",
    [
        {"space": "sphere"},
        {"validation_fraction": 0.0},
        {"loss": "infonce"},
        {"encoder_options": {"depth": 0}},
    ],
)
def test_where_there_is_nothing_to_compare(changes):
    assert quick(**changes).fit(recording(bent=True, rows=300)[1]).nonlinear_gain_ is None


def test_the_comparison_is_saved_and_refits_are_linear_too(tmp_path):
    x = recording(bent=False)[1]
    ica = ContrastiveICA(3, random_state=0, device="cpu", refits=1).fit(x)
    assert ica.refit_agreement_.min() > 0.9999
    again = ContrastiveICA.load(ica.save(tmp_path / "saved"))
    assert again.nonlinear_gain_ == ica.nonlinear_gain_
    np.testing.assert_array_equal(again.transform(x), ica.transform(x))


def test_settings_of_a_linear_map_keep_what_else_was_asked_for():
    asked = {"encoder_options": {"hidden": [5], "slope": 0.1}, "space": "auto", "n_init": 3, "lag": (2,)}
    expected = {"encoder_options": {"slope": 0.1, "depth": 0}, "space": "flat", "n_init": 1, "lag": (2,)}
    asked |= {"concentration": "per-anchor"}
    expected |= {"concentration": "one"}
    assert linear_settings({**asked, "max_steps": None}) == {**expected, "max_steps": 600}
    assert linear_settings({**asked, "max_steps": 50}) == {**expected, "max_steps": 50}
