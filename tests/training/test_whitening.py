import pytest
import torch

from aninfonce.training import fit, load_fitted
from aninfonce.training.data import open_data
from aninfonce.training.whitening import Whitening
from tests.training.small import small_config


def test_constant_columns_stay_finite():
    x = torch.randn(500, 3, generator=torch.Generator().manual_seed(0))
    x[:, 1] = 4.0
    assert torch.isfinite(Whitening.of(x)(x)).all()


def test_a_whitened_run_is_saved_and_loaded_whole(tmp_path):
    config = small_config(recipe={"whiten": True}, evaluate_every=0)
    pairs = open_data(config.data)
    fitted = fit(pairs, config, directory=tmp_path)
    x = pairs.sample(2000, torch.Generator().manual_seed(0)).x
    inputs = fitted.encoder.inputs(x)
    assert (torch.cov(inputs.T) - torch.eye(10) / 10).abs().max() < 0.02
    assert torch.equal(load_fitted(tmp_path).embed(x), fitted.embed(x))
    again = fit(pairs, config, directory=tmp_path, resume=True)
    assert torch.equal(again.embed(x), fitted.embed(x))


def test_one_column():
    x = 3 + 5 * torch.randn(500, 1, generator=torch.Generator().manual_seed(0))
    assert torch.isclose(Whitening.of(x)(x).std(), torch.tensor(1.0), atol=1e-3)


def test_directions_of_little_variance_are_left_out():
    x = torch.randn(2000, 4, generator=torch.Generator().manual_seed(0)) * torch.tensor(
        [3.0, 0.01, 2.0, 0.02]
    )
    kept = Whitening.of(x, 2)(x)
    assert torch.allclose(torch.cov(kept.T), torch.eye(2) / 2, atol=1e-3)
    blind = Whitening.of(x, 2).matrix[:, [1, 3]].abs().max()
    assert blind < 0.05 * Whitening.of(x, 2).matrix.abs().max()
    with pytest.raises(ValueError, match="`components` must be at most the 4 columns"):
        Whitening.of(x, 5)
