"""An estimator with linear dynamics: what turns is found, predicted and kept on disk."""

import numpy as np
import pytest
import torch

from aninfonce.encoders.embedding import Embedding
from aninfonce.estimator import ContrastiveICA
from aninfonce.estimator.moving import fold_modes, pack_moving, unpack_moving
from aninfonce.losses import LinearDynamics
from aninfonce.metrics import linear_r2
from tests.estimator.small import UNFINISHED, autoregressive, quick

ANGLE, SIZE, PHI = 1.2, 0.9, 0.6
ROWS = 4000


@pytest.fixture(scope="module")
def recording():
    """An oscillator and a decay, bent a little."""
    rng = np.random.default_rng(0)
    turn = SIZE * np.array([[np.cos(ANGLE), -np.sin(ANGLE)], [np.sin(ANGLE), np.cos(ANGLE)]])
    z = np.zeros((ROWS + 1000, 3))
    noise = rng.normal(size=z.shape) * np.sqrt(1 - np.array([SIZE, SIZE, PHI]) ** 2)
    for row in range(1, len(z)):
        z[row, :2] = turn @ z[row - 1, :2] + noise[row, :2]
        z[row, 2] = PHI * z[row - 1, 2] + noise[row, 2]
    x = np.tanh(0.6 * z @ rng.normal(size=(3, 6))) @ rng.normal(size=(6, 6))
    return x, z


def model(**changes):
    settings = {"dynamics": "linear", "max_steps": 200, "batch_size": 256, "random_state": 0, "device": "cpu"}
    return ContrastiveICA(**{"n_components": 3, **settings, **changes})


@pytest.fixture(scope="module")
def fitted(recording):
    return model(rate=50.0).fit(recording[0][:ROWS])


def test_oscillator_and_decay_are_found(recording, fitted):
    x, z = recording
    e = fitted.transform(x[ROWS:])
    assert [block.tolist() for block in fitted.blocks_] == [[0], [1, 2]]
    assert linear_r2(z[ROWS:, :2], e[:, 1:]).mean > 0.9
    assert linear_r2(z[ROWS:, 2:], e[:, :1]).mean > 0.9
    # Turns a second, at 50 rows a second.
    np.testing.assert_allclose(fitted.frequencies_, [0, *[50 * ANGLE / (2 * np.pi)] * 2], rtol=0.03)
    low, high = fitted.frequencies_interval_[1]
    assert low < fitted.frequencies_[1] < high
    np.testing.assert_allclose(fitted.time_constants_[1:], -1 / np.log(SIZE) / 50, rtol=0.2)
    assert fitted.space_ == "flat"


def test_the_table_has_the_mode_that_explains_most_first(recording, fitted):
    x, z = recording
    table = fitted.mode_table_
    assert sorted(mode.columns for mode in table) == [(0,), (1, 2)]
    assert [mode.share for mode in table] == sorted((mode.share for mode in table), reverse=True)
    for mode in table:
        column = mode.columns[0]
        assert mode.frequency == fitted.frequencies_[column]
        assert mode.frequency_interval == tuple(fitted.frequencies_interval_[column])
        assert mode.time_constant == pytest.approx(fitted.time_constants_[column])
        assert mode.time_constant_interval[0] < mode.time_constant < mode.time_constant_interval[1]
        sources = [0, 1] if len(mode.columns) == 2 else [2]
        assert mode.share == pytest.approx(linear_r2(x[:ROWS], z[:ROWS, sources], fit="same").mean, abs=0.05)


def test_sessions_too_short_for_earlier_rows_are_regressed(recording):
    x = recording[0]
    parts = model(max_steps=20).fit([x[i : i + 5] for i in range(0, 1000, 5)])
    np.testing.assert_array_equal(parts.modes_.regression, parts.modes_.operator)


def test_a_symmetric_similarity_does_not_find_it(recording, fitted):
    x, _ = recording
    other = model(dynamics=None, space="flat").fit(x[:ROWS])
    assert other.modes_ is None
    assert other.frequencies_ is None
    assert fitted.score(x[ROWS:]) > other.score(x[ROWS:]) + 0.3
    assert not hasattr(other, "predict")


def test_predictions_are_better_than_no_change(recording, fitted):
    x, _ = recording
    e = fitted.transform(x[ROWS:])
    for steps in (1, 3):
        error = e[steps:] - fitted.predict(x[ROWS:], steps)[:-steps]
        still = e[steps:] - e[:-steps]
        assert (error.var(axis=0)[1:] < 0.6 * still.var(axis=0)[1:]).all()
    np.testing.assert_allclose(fitted.predict(x[:5], 0), fitted.transform(x[:5]))
    gain = fitted.dynamics_gain_
    assert gain.bits > 10 * gain.error > 0
    assert gain.turning_bits > 10 * gain.turning_error > 0
    with pytest.raises(ValueError, match="`steps`"):
        fitted.predict(x, -1)


def test_lists_of_sessions_are_predicted_as_lists(recording, fitted):
    x = recording[0]
    ahead = fitted.predict([x[:10], x[10:30]])
    assert [len(part) for part in ahead] == [10, 20]


def test_where_nothing_turns_turning_tells_nothing():
    rng = np.random.default_rng(1)
    z, phi = np.zeros((2000, 2)), np.array([0.95, 0.6])
    for row in range(1, len(z)):
        z[row] = phi * z[row - 1] + np.sqrt(1 - phi**2) * rng.normal(size=2)
    found = model(n_components=2, max_steps=100).fit(z @ rng.normal(size=(2, 3)))
    assert not found.modes_.oscillators
    assert found.dynamics_gain_.turning_bits < 3 * found.dynamics_gain_.turning_error + 1e-9
    assert found.dynamics_gain_.bits > 0


def test_it_is_the_same_after_a_way_over_the_disk(recording, fitted, tmp_path):
    x = recording[0][:50]
    again = ContrastiveICA.load(fitted.save(tmp_path / "kept"))
    np.testing.assert_array_equal(again.predict(x, 2), fitted.predict(x, 2))
    np.testing.assert_array_equal(again.frequencies_interval_, fitted.frequencies_interval_)
    assert again.dynamics_gain_ == fitted.dynamics_gain_
    assert again.mode_table_ == fitted.mode_table_


def test_what_an_earlier_version_saved_predicts_as_it_did(fitted):
    """Without a regression of its own, and without shares."""
    facts = pack_moving(fitted)
    facts.pop("shares")
    facts["modes"].pop()
    modes, gain, shares = unpack_moving(facts)
    np.testing.assert_allclose(modes.ahead(3), np.linalg.matrix_power(fitted.modes_.operator, 3))
    assert gain == fitted.dynamics_gain_
    assert shares is None


def test_folding_modes_in_changes_no_loss(fitted):
    """Columns and loss are turned together: the loss of any pairs stays, and modes undo what was mixed."""
    encoder = torch.nn.Sequential(torch.nn.Linear(3, 3)).double()
    embedding = Embedding(encoder, torch.nn.Identity())
    loss = LinearDynamics(3).double()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in loss.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    x, x_pos = torch.randn(2, 20, 3, generator=generator, dtype=torch.float64)
    before, h = loss(embedding(x), embedding(x_pos)), embedding(x).detach().numpy()
    fold_modes(embedding, loss, fitted.modes_, x)
    torch.testing.assert_close(loss(embedding(x), embedding(x_pos)), before)
    np.testing.assert_allclose(embedding(x).detach().numpy(), fitted.modes_(h))


def test_an_encoder_of_ones_own_need_not_end_in_a_linear_layer(recording):
    layers = torch.nn.Linear(6, 16), torch.nn.GELU(), torch.nn.Linear(16, 3), torch.nn.Tanh()
    encoder = torch.nn.Sequential(*layers)
    found = model(encoder=encoder, max_steps=20, validation_fraction=0.0).fit(recording[0][:500])
    np.testing.assert_allclose(found.transform(recording[0][:500]).std(axis=0), 1.0, atol=0.1)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"dynamics": "quadratic"}, "`dynamics`"),
        ({"space": "sphere"}, "`space`"),
        ({"loss": "infonce"}, "`loss`"),
        ({"lag": (1, 2)}, "`lag`"),
        ({"refits": 1}, "`refits`"),
        ({"loss_options": {"initial": 2.0}}, "loss_options"),
    ],
)
def test_what_does_not_go_with_it_is_refused_by_name(recording, changes, name):
    with pytest.raises(ValueError, match=name):
        model(**changes).fit(recording[0][:500])


def test_no_stream(recording):
    with pytest.raises(ValueError, match="`dynamics` must be None for partial_fit"):
        model().partial_fit(recording[0][:500])


@UNFINISHED
def test_dynamics_set_after_the_fit_predict_nothing():
    _, X = autoregressive([0.5, 0.9], 300)
    ica = quick(n_components=2, max_steps=3).fit(X).set_params(dynamics="linear")
    with pytest.raises(ValueError, match="`dynamics` must be 'linear' when `fit` is called"):
        ica.predict(X)
