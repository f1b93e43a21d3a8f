"""A saved estimator comes back whole, on any device, and nothing is executed."""

import numpy as np
import pytest
import torch
from torch import nn

from aninfonce.encoders import MLP, register_encoder, registry
from aninfonce.estimator import ContrastiveICA
from aninfonce.training import CheckpointError, load_fitted
from aninfonce.training.checkpoints import Snapshot, read_snapshot, write_snapshot
from tests.estimator.small import UNFINISHED, autoregressive, make_pairs, quick

pytestmark = UNFINISHED


@pytest.fixture(scope="module")
def data():
    return make_pairs(300)


@pytest.fixture(scope="module")
def ica(data):
    return quick().fit(*data)


def test_round_trip(ica, data, tmp_path):
    path = ica.save(tmp_path / "models" / "ica")
    assert sorted(file.name for file in path.iterdir()) == ["state.json", "tensors.safetensors"]
    again = ContrastiveICA.load(path)
    np.testing.assert_array_equal(again.transform(data[0]), ica.transform(data[0]))
    assert again.score(*data) == ica.score(*data)
    assert again.get_params() == ica.get_params()
    curves = ("loss_curve_", "loss_steps_", "held_out_curve_", "held_out_steps_")
    for name in ("concentration_", "concentration_interval_", *curves):
        np.testing.assert_array_equal(getattr(again, name), getattr(ica, name))
    assert [block.tolist() for block in again.blocks_] == [block.tolist() for block in ica.blocks_]
    for name in ("n_iter_", "best_step_", "folded_", "lag_"):
        assert getattr(again, name) == getattr(ica, name)
    assert list(again.get_feature_names_out()) == list(ica.get_feature_names_out())
    again.partial_fit(*data)


def test_the_command_line_reads_it(ica, data, tmp_path):
    fitted = load_fitted(ica.save(tmp_path / "ica"))
    np.testing.assert_allclose(fitted.embed(data[0]).numpy(), ica.transform(data[0]), atol=1e-5)


def test_saving_twice_replaces(ica, data, tmp_path):
    path = ica.save(tmp_path / "ica")
    other = quick(random_state=1, max_steps=3).fit(*data)
    other.save(path)
    assert ContrastiveICA.load(path).n_iter_ == 3
    assert [entry.name for entry in tmp_path.iterdir()] == ["ica"]


def test_other_folders_are_not_replaced(ica, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="something else in it"):
        ica.save(tmp_path)
    with pytest.raises(ValueError, match="something else in it"):
        ica.save(tmp_path / "thesis.tex")
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_numbers_that_a_search_sets_are_saved_as_numbers(data, tmp_path):
    parameters = {
        "n_components": np.int64(3),
        "max_steps": np.int64(3),
        "validation_fraction": np.float64(0.0),
        "whiten": np.bool_(True),
        "encoder_options": {"width": np.int64(16), "depth": np.int32(2)},
    }
    ica = quick(**parameters).fit(*data)
    again = ContrastiveICA.load(ica.save(tmp_path / "ica"))
    np.testing.assert_array_equal(again.transform(data[0]), ica.transform(data[0]))
    assert again.get_params() == ica.get_params()
    assert type(again.n_components) is int
    assert type(again.encoder_options["width"]) is int


def test_a_save_that_fails_leaves_nothing(data, tmp_path):
    ica = quick(max_steps=3).fit(*data)
    ica.set_params(encoder_options={"width": object()})
    with pytest.raises(ValueError, match="only numbers, texts, lists"):
        ica.save(tmp_path / "ica")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def tanh():
    """An encoder that does not end in a linear layer, so that training appends one."""

    def build(in_features, out_features, generator=None):
        body = MLP(in_features, out_features, width=16, depth=2, generator=generator)
        return nn.Sequential(body, nn.Tanh())

    register_encoder("tanh", build)
    yield "tanh"
    del registry._BUILDERS["tanh"]


def test_an_encoder_that_ends_in_tanh_comes_back(data, tmp_path, tanh):
    ica = quick(encoder=tanh, encoder_options=None).fit(*data)
    path = ica.save(tmp_path / "ica")
    again = ContrastiveICA.load(path)
    np.testing.assert_array_equal(again.transform(data[0]), ica.transform(data[0]))
    # Saved once more, it is still the same.
    once_more = ContrastiveICA.load(again.save(tmp_path / "again"))
    np.testing.assert_array_equal(once_more.transform(data[0]), ica.transform(data[0]))
    np.testing.assert_allclose(load_fitted(path).embed(data[0]).numpy(), ica.transform(data[0]), atol=1e-5)


def test_what_cannot_be_read_is_named(ica, tmp_path):
    with pytest.raises(CheckpointError, match="is not a checkpoint: there is no such folder"):
        ContrastiveICA.load(tmp_path / "nowhere")
    with pytest.raises(CheckpointError, match=r"is not a checkpoint: there is no state.json in it"):
        ContrastiveICA.load(tmp_path)
    path = ica.save(tmp_path / "ica")
    snapshot = read_snapshot(path)
    facts = {name: value for name, value in snapshot.facts.items() if name != "estimator"}
    write_snapshot(path, Snapshot(snapshot.tensors, facts))
    with pytest.raises(CheckpointError, match="not an estimator"):
        ContrastiveICA.load(path)
    (path / "tensors.safetensors").write_bytes(b"cut")
    with pytest.raises(CheckpointError, match="checksum"):
        load_fitted(path)


def test_a_save_from_before_early_stopping_and_lags_is_read(ica, data, tmp_path):
    path = ica.save(tmp_path / "old")
    snapshot = read_snapshot(path)
    saved = snapshot.facts["estimator"]
    kept = ("feature_names_in_", "folded_", "n_iter_", "n_features_in_", "loss_curve_", "loss_steps_")
    later = ("lag", "window", "gaps", "rate", "input_dropout", "n_init", "refits")
    facts = {
        **{name: saved[name] for name in kept},
        "parameters": {name: value for name, value in saved["parameters"].items() if name not in later},
        "concentration_": saved["concentrations_"][0],
        "concentration_interval_": saved["concentrations_interval_"][0],
        "lag_": 2,
    }
    write_snapshot(path, Snapshot(snapshot.tensors, {**snapshot.facts, "estimator": facts}))
    again = ContrastiveICA.load(path)
    assert again.best_step_ == ica.n_iter_
    assert again.held_out_curve_.size == 0
    assert again.lag_ == 2
    np.testing.assert_array_equal(again.transform(data[0]), ica.transform(data[0]))
    np.testing.assert_array_equal(again.concentration_, ica.concentration_)


def test_devices_are_saved_and_refused_by_name(data, tmp_path):
    path = quick(device=torch.device("cpu"), max_steps=3).fit(*data).save(tmp_path / "ica")
    assert ContrastiveICA.load(path, device=torch.device("cpu")).device == "cpu"
    for device in ("tpux", "cuda:99", 3.5):
        with pytest.raises(ValueError, match="`device` must be one that torch has here"):
            ContrastiveICA.load(path, device=device)


def test_a_window_set_after_the_fit_is_not_the_networks(tmp_path):
    """`set_params` is for the next fit: what is fitted keeps its window, also when it is saved."""
    _, X = autoregressive([0.5, 0.9], 300)
    ica = quick(n_components=2, window=3, max_steps=3).fit(X)
    before = ica.transform(X)
    ica.set_params(window=1)
    np.testing.assert_array_equal(ica.transform(X), before)
    again = ContrastiveICA.load(ica.save(tmp_path / "ica"))
    np.testing.assert_array_equal(again.transform(X), before)
    again.partial_fit(X)
    with pytest.raises(ValueError, match=r"`X` must have shape|features"):
        again.transform(X[:, :3])
