"""What a network bends without need is taken back."""

import copy

import numpy as np
import pytest
import torch

from aninfonce.estimator import ContrastiveICA, fitting
from aninfonce.metrics import linear_r2
from tests.estimator.small import UNFINISHED, autoregressive, make_pairs, quick

pytestmark = UNFINISHED


@pytest.fixture
def calls(monkeypatch):
    """Encoder before and after, the rows that it saw and the shares; last that of the network."""
    seen = []
    shrink = fitting.shrink_to_linear

    def remembered(fitted, source, held_out):
        before = copy.deepcopy(fitted.encoder)
        shares = shrink(fitted, source, held_out)
        seen.append((before, copy.deepcopy(fitted.encoder), source.fresh(10_000).x, shares))
        return shares

    monkeypatch.setattr(fitting, "shrink_to_linear", remembered)
    return seen


def test_noise_of_few_pairs_is_taken_back(calls, monkeypatch):
    """Of factors that are nearly linear in the rows, pairs tell least about the one that changes most."""
    rng = np.random.default_rng(0)
    left = np.array([0.6, 0.9, 0.99])
    z, noise = rng.normal(size=(2, 4000, 3))
    later = left * z + np.sqrt(1 - left**2) * noise
    mixing = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    x, x_pos = np.tanh(0.5 * z @ mixing), np.tanh(0.5 * later @ mixing)
    # From random weights, and with a network that bends much, there is most to take back.
    monkeypatch.setattr(fitting.Run, "start_from_linear", lambda run, fitted: None)
    ica = ContrastiveICA(3, encoder_options={"slope": 0.2}, random_state=0, device="cpu")
    ica.fit(x[:1500], X_pos=x_pos[:1500])
    before, after, rows, shares = calls[-1]
    assert shares.min() >= 0.0
    assert shares.max() <= 1.0
    assert shares[0] < 0.7
    # Training was on centred rows.
    fresh = torch.from_numpy((x[1500:] - x[:1500].mean(axis=0)).astype(np.float32))
    found = [linear_r2(z[1500:], encoder(fresh).detach().numpy()).mean for encoder in (before, after)]
    # What is not explained becomes less by a third at least (.020 to .011 here).
    assert 1 - found[1] < 2 / 3 * (1 - found[0])
    # Finished again: columns of unit variance that do not correlate.
    np.testing.assert_allclose(np.cov(after(rows).detach().numpy().T), np.eye(3), atol=2e-3)


def test_what_the_factors_need_is_kept(calls):
    z, x = autoregressive([0.5, 0.97], 4000)
    bent = np.where(x > 0, x, 0.1 * x)
    ContrastiveICA(2, random_state=0, device="cpu").fit(bent[:3200])
    before, after, _, shares = calls[-1]
    # The slow one is told of by every pair.
    assert shares[1] > 0.8
    fresh = torch.from_numpy((bent[3200:] - bent[:3200].mean(axis=0)).astype(np.float32))
    found = [linear_r2(z[3200:], encoder(fresh).detach().numpy()).mean for encoder in (before, after)]
    assert found[1] > found[0] - 0.002


@pytest.mark.parametrize(
    "changes",
    [
        {"encoder_options": {"depth": 0}},
        {"encoder_options": {"skip": False}},
        {"encoder": "paper-mlp", "encoder_options": None},
        {"loss": "infonce"},
        {"recipe": {"close": None}},
        {"space": "unbounded"},
    ],
)
def test_where_nothing_can_be_shrunk_nothing_is(changes, calls):
    quick(**changes).fit(*make_pairs(300))
    for before, after, rows, shares in calls:
        assert shares is None
        assert torch.equal(before(rows), after(rows))


def test_without_held_out_pairs_nothing_is_shrunk(calls):
    quick(validation_fraction=0.0).fit(*make_pairs(300))
    assert calls == []


@pytest.mark.parametrize("changes", [{"lag": (1, 3)}, {"space": "sphere"}])
def test_several_lags_and_the_sphere_are_shrunk_too(changes, calls):
    ica = quick(n_components=2, **changes).fit(autoregressive([0.3, 0.9], 400)[1])
    assert calls[-1][-1].shape == (2,)
    embedded = ica.transform(autoregressive([0.3, 0.9], 400, seed=1)[1])
    if changes.get("space") == "sphere":
        np.testing.assert_allclose(np.linalg.norm(embedded, axis=1), 1.0, rtol=1e-5)
    assert np.isfinite(embedded).all()


def test_rows_that_are_held_do_not_crash():
    """Each row ten times: most pairs coincide, so that held-out pairs set no bound to Λ̂."""
    rng = np.random.default_rng(0)
    z, phi = np.zeros((40, 3)), np.array([0.9, 0.7, 0.5])
    noise = rng.normal(size=(400, 3)) * np.sqrt(1 - phi**2)
    for row in range(1, len(z)):
        z[row] = phi * z[row - 1] + noise[row]
    rows = np.tanh(0.5 * z @ np.random.default_rng(9).normal(size=(3, 5)))
    ica = ContrastiveICA(2, max_steps=12, random_state=0, device="cpu").fit(np.repeat(rows, 10, axis=0))
    assert np.isfinite(ica.concentration_).all()
    assert np.isfinite(ica.transform(rows)).all()
