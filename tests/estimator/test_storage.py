"""A saved estimator comes back whole, on any device, and nothing is executed."""

import json

import numpy as np
import pytest

from aninfonce.estimator import ContrastiveICA
from aninfonce.training import CheckpointError, load_fitted
from tests.estimator.small import make_pairs, quick


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
    for name in ("concentration_", "concentration_interval_", "loss_curve_", "loss_steps_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(ica, name))
    assert [block.tolist() for block in again.blocks_] == [block.tolist() for block in ica.blocks_]
    assert (again.n_iter_, again.folded_, again.lag_) == (ica.n_iter_, ica.folded_, ica.lag_)
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


def test_what_cannot_be_read_is_named(ica, tmp_path):
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        ContrastiveICA.load(tmp_path / "nowhere")
    path = ica.save(tmp_path / "ica")
    facts = json.loads((path / "state.json").read_text())
    del facts["estimator"]
    (path / "state.json").write_text(json.dumps(facts))
    with pytest.raises(CheckpointError, match="not an estimator"):
        ContrastiveICA.load(path)
    (path / "tensors.safetensors").write_bytes(b"cut")
    with pytest.raises(CheckpointError, match="checksum"):
        load_fitted(path)
