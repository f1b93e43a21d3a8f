"""What the estimator learns from, gives back and refuses."""

import pickle
import signal

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError

from aninfonce.estimator import ContrastiveICA
from aninfonce.metrics import linear_r2
from tests.estimator.small import make_pairs, quick


def test_recovers_factors_and_their_order():
    """Three factors of different Λ: each has a column of its own, in the order of Λ."""
    X, X_pos = make_pairs(4000)
    ica = quick(max_steps=300, batch_size=256, encoder_options={"width": 64, "depth": 2}).fit(X, X_pos)
    held_out = make_pairs(1000, seed=1)
    mixing = np.linalg.qr(np.random.default_rng(7).normal(size=(3, 3)))[0]
    z = np.arctanh(held_out[0]) @ mixing.T
    embedding = ica.transform(held_out[0])
    assert linear_r2(z, embedding).mean > 0.97
    # Λ ascends, and the largest step is the last factor's.
    correlation = np.abs(np.corrcoef(z.T, embedding.T)[:3, 3:])
    assert correlation[2, 0] > 0.9
    assert correlation[0, 2] > 0.9
    assert [block.tolist() for block in ica.blocks_] == [[0], [1], [2]]
    assert (np.diff(ica.concentration_) >= 0).all()
    assert (ica.concentration_interval_[:, 0] <= ica.concentration_).all()
    assert (ica.concentration_ <= ica.concentration_interval_[:, 1]).all()
    assert ica.score(*held_out) > 2.5
    assert len(ica.loss_curve_) == len(ica.loss_steps_) == 301
    assert ica.loss_curve_[-1] < ica.loss_curve_[0]
    assert ica.folded_ is False


def test_shuffled_pairs_score_nothing():
    X, X_pos = make_pairs(1000)
    order = np.random.default_rng(0).permutation(1000)
    ica = quick(max_steps=60).fit(X, X_pos[order])
    held_out = make_pairs(1000, seed=1)
    assert ica.score(held_out[0], held_out[1][order]) < 0.1


def test_a_recording_pairs_rows_within_groups():
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(200, 2)), axis=0)
    ica = quick(n_components=2).fit(X)
    assert ica.lag_ == 1
    grouped = quick(n_components=2).fit(X, lag=3, groups=np.repeat(["a", "b"], 100))
    assert grouped.lag_ == 3
    assert grouped.score(X) == grouped.score(X, lag=3)
    assert grouped.score(X) != grouped.score(X, lag=1)
    with pytest.raises(ValueError, match="at least 2 pairs of rows that are 100 apart"):
        quick().fit(X, lag=100, groups=np.repeat(["a", "b"], 100))


def test_an_augmentation_is_drawn_anew():
    X, _ = make_pairs(300)
    rng, calls = np.random.default_rng(0), []

    def augment(rows):
        calls.append(len(rows))
        return rows + 0.05 * rng.normal(size=rows.shape)

    ica = quick().fit(X, augment=augment)
    assert calls.count(64) >= 30
    assert ica.score(X) > 0
    again = pickle.loads(pickle.dumps(quick().fit(X, augment=lambda rows: rows + 0.01)))
    with pytest.raises(ValueError, match="give X_pos"):
        again.score(X)
    assert np.isfinite(again.score(X, augment=augment))


def test_ways_of_giving_positives_are_the_same():
    X, X_pos = make_pairs(100)
    np.testing.assert_array_equal(
        quick().fit(X, X_pos).transform(X), quick().fit(X, X_pos=X_pos).transform(X)
    )
    labels = np.arange(100) % 2
    np.testing.assert_array_equal(quick().fit(X, labels).transform(X), quick().fit(X).transform(X))


@pytest.mark.parametrize("space", ["box", "unbounded", "learnable-sphere"])
def test_other_spaces_are_sorted_too(space):
    X, X_pos = make_pairs(300)
    ica = quick(space=space).fit(X, X_pos)
    assert (np.diff(ica.concentration_) >= 0).all()
    assert np.isfinite(ica.score(X, X_pos))


@pytest.mark.parametrize("loss", ["infonce", "nt-xent", "lp"])
def test_other_losses_have_a_concentration(loss):
    X, X_pos = make_pairs(300)
    ica = quick(loss=loss).fit(X, X_pos)
    assert ica.concentration_.shape == (3,)
    assert np.isfinite(ica.score(X, X_pos))


def test_partial_fit_goes_on():
    X, X_pos = make_pairs(600)
    ica = quick(batch_size=100)
    before = ica.partial_fit(X, X_pos).score(X, X_pos)
    assert ica.n_iter_ == 6
    for _ in range(20):
        ica.partial_fit(X, X_pos)
    assert ica.n_iter_ == 21 * 6
    assert len(ica.loss_curve_) == 21 * 6
    assert (np.diff(ica.loss_steps_) == 1).all()
    assert ica.score(X, X_pos) > before + 0.5
    with pytest.raises(ValueError, match="2 features"):
        ica.partial_fit(X[:, :2], X_pos[:, :2])


def test_partial_fit_continues_a_fit():
    X, X_pos = make_pairs(600)
    ica = quick(max_steps=60).fit(X, X_pos)
    before = ica.score(X, X_pos)
    assert ica.partial_fit(X, X_pos).score(X, X_pos) > before - 0.5


def test_precision_follows_the_input():
    X, X_pos = make_pairs(100)
    ica = quick().fit(X, X_pos)
    assert ica.transform(X).dtype == np.float64
    assert ica.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(ica.transform(X), ica.transform(X.astype(np.float32)), atol=1e-4)
    assert next(ica.encoder_.parameters()).dtype == torch.float32


def test_streams_a_memory_map(tmp_path):
    X, X_pos = make_pairs(300)
    np.save(tmp_path / "x.npy", X)
    ica = quick().fit(X, X_pos)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(ica.transform(mapped, batch_size=50), ica.transform(X, batch_size=50))


def test_the_global_random_state_is_left_alone():
    X, X_pos = make_pairs(100)
    np.random.seed(0)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    quick().fit(X, X_pos)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 1}, "`dim`"),
        ({"space": "torus"}, "`space`"),
        ({"loss": "mse"}, "`loss.name`"),
        ({"recipe": 3}, "`recipe` must be a name"),
        ({"recipe": {"speed": 2}}, "`recipe.speed` is not a known setting"),
        ({"device": "toaster"}, "`device` must be"),
        ({"max_steps": 0}, "`recipe.steps`"),
        ({"validation_fraction": 1.0}, "`validation_fraction` must lie"),
        ({"encoder": "transformer"}, "transformer"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, X_pos = make_pairs(50)
    with pytest.raises(ValueError, match=message):
        quick(**parameters).fit(X, X_pos)


def test_bad_data_are_named():
    X, X_pos = make_pairs(50)
    with pytest.raises(ValueError, match="`X_pos` must have the shape of X"):
        quick().fit(X, X_pos[:20])
    with pytest.raises(ValueError, match="give one of X_pos"):
        quick().fit(X, X_pos, lag=1)
    with pytest.raises(ValueError, match="`groups` go with a recording"):
        quick().fit(X, X_pos, groups=np.zeros(50))
    with pytest.raises(ValueError, match="`groups` must have shape"):
        quick().fit(X, groups=np.zeros(49))
    with pytest.raises(ValueError, match="`augment` must give finite numbers"):
        quick().fit(X, augment=lambda rows: rows[:, :1])
    with pytest.raises(ValueError, match="`X` must vary"):
        quick().fit(np.ones((50, 3)))
    with pytest.raises(ValueError, match="give X_pos"):
        quick().fit(X, X_pos).score(X)
    with pytest.raises(NotFittedError):
        ContrastiveICA().transform(X)
    failed = quick(space="torus")
    with pytest.raises(ValueError, match="space"):
        failed.fit(X, X_pos)
    with pytest.raises(NotFittedError):
        failed.transform(X)


def test_control_c_is_control_c():
    X, _ = make_pairs(100)

    def augment(rows):
        signal.raise_signal(signal.SIGINT)
        return rows

    calls = []

    def later(rows):
        calls.append(1)
        return augment(rows) if len(calls) > 5 else rows

    with pytest.raises(KeyboardInterrupt):
        quick().fit(X, augment=later)
