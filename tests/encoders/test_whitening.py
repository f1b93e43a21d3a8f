import pytest
import torch

from aninfonce.encoders.whitening import Whitening
from aninfonce.training import fit, load_fitted
from aninfonce.training.open_data import open_data
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


def _reference(x, components=None):
    """The map by its definition, from a D × D covariance."""
    values, vectors = torch.linalg.eigh(torch.cov(x.double().T))
    kept = x.shape[1] if components is None else components
    scale = (values.clamp_min(values[-1] * 1e-8) * kept).rsqrt()
    scaled = (vectors * scale).T
    return vectors @ scaled if components is None else scaled[-components:]


@pytest.mark.parametrize("rows", [2, 5, 12, 13, 40])
def test_any_number_of_rows_gives_the_map_of_the_covariance(rows):
    x = torch.randn(rows, 13, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 2
    matrix = Whitening.of(x).matrix
    # What rows do not span is scaled up 10⁴ times.
    torch.testing.assert_close(matrix, _reference(x), rtol=1e-6, atol=1e-6 * float(matrix.abs().max()))


@pytest.mark.parametrize("components", [3, 4, 5, 9])
def test_more_components_than_rows_span(components):
    x = torch.randn(5, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    matrix, reference = Whitening.of(x, components).matrix, _reference(x, components)
    # Directions in which nothing varies are any, but as long, and at right angles.
    torch.testing.assert_close(matrix[-4:].abs(), reference[-4:].abs(), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(matrix @ matrix.T, reference @ reference.T, rtol=1e-6, atol=1e-3)


def test_few_rows_of_many_columns_take_no_large_matrix_apart(monkeypatch):
    def small_only(matrix):
        assert matrix.shape[-1] <= 10
        return torch.linalg.svd(matrix)

    monkeypatch.setattr(torch.linalg, "eigh", small_only)
    x = torch.randn(10, 2000, generator=torch.Generator().manual_seed(0))
    assert torch.isfinite(Whitening.of(x)(x)).all()
    assert Whitening.of(x, 8)(x).shape == (10, 8)


def test_where_nothing_varies_nothing_is_scaled():
    x = torch.full((6, 4), 3.0)
    assert torch.equal(Whitening.of(x)(x), torch.zeros(6, 4))


def test_columns_far_from_zero_are_centred_exactly():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(500, 3, generator=generator)
    whitening = Whitening.of(x)
    expected = whitening(x)
    far = torch.tensor([1e8, -3e9, 0.1], dtype=torch.float64)
    whitening.shift(far)
    found = whitening.double()(x.double() + far)
    torch.testing.assert_close(found.float(), expected, atol=1e-5, rtol=1e-5)
    # There and back.
    whitening.shift(-far)
    torch.testing.assert_close(whitening(x.double()).float(), expected, atol=1e-5, rtol=1e-5)


def test_files_from_before_the_exact_centre_are_read():
    whitening = Whitening.of(torch.randn(50, 3) + 1.0)
    state = {name: value for name, value in whitening.state_dict().items() if name != "rest"}
    again = Whitening(3)
    again.load_state_dict(state)
    torch.testing.assert_close(again(torch.ones(2, 3)), whitening(torch.ones(2, 3)))
