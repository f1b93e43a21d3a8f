import copy
import csv
import json

import numpy as np
import pytest
import torch
from lightning_fabric import Fabric
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from aninfonce.alignment.closing import close
from aninfonce.encoders import MLP
from aninfonce.losses import AnInfoNCE, InfoNCE
from aninfonce.metrics import concentration_error, linear_r2
from aninfonce.processes import ProcessSettings
from aninfonce.training import TrainingConfig, fit, load_fitted
from aninfonce.training.open_data import open_data
from tests.training.small import small_config

PLAIN = {"unfold": None, "close": None, "steps": 10, "growth": [], "batch_size": 32}


@pytest.fixture(scope="module")
def four():
    """Four factors, two of each kind, mixed."""
    law = {"kind": "fisher-bingham", "concentration": (5, 5, 25, 25)}
    return ProcessSettings(space="sphere", dim=4, conditional=law, candidates=500).build(seed=0)


def test_the_recipe_identifies_and_embeds_on_the_unit_sphere(four):
    config = TrainingConfig(
        encoder={"name": "mlp", "options": {"width": 64}},
        recipe={
            "steps": 500,
            "batch_size": 256,
            "growth": [[0.5, 512]],
            "close": {"pairs": 16_384, "concentration_pairs": 32_768, "block": 512},
        },
        evaluate_every=0,
    )
    fitted = fit(four, config)
    pairs = four.sample(4096, torch.Generator().manual_seed(9))
    z = fitted.embed(pairs.x)
    torch.testing.assert_close(z.norm(dim=1), torch.ones(4096))
    assert linear_r2(pairs.z, z).mean > 0.98
    assert concentration_error(fitted.concentration, four.concentration).max < 0.1
    assert torch.equal(fitted.concentration, fitted.concentration.sort().values)
    assert fitted.folded is False
    assert abs(fitted.history[-1]["gap"]) < 0.1


def test_infonce_on_the_sphere_keeps_its_head(four):
    fitted = fit(four, TrainingConfig(loss="infonce", recipe={"steps": 20, "batch_size": 64}))
    assert fitted.concentration is None
    assert fitted.folded is None
    assert isinstance(fitted.loss, InfoNCE)
    torch.testing.assert_close(fitted.embed(four.sample(5).x).norm(dim=1), torch.ones(5))


@pytest.mark.parametrize("space", ["box", "unbounded", "learnable-sphere"])
def test_other_spaces(four, space):
    fitted = fit(four, TrainingConfig(space=space, loss={"name": "lp", "options": {"p": 1}}, recipe=PLAIN))
    assert fitted.step == 10
    assert fitted.embed(four.sample(5).x).shape == (5, 4)


def test_the_papers_recipe_runs(four):
    fitted = fit(four, TrainingConfig(recipe={"name": "paper", "steps": 3, "batch_size": 16}))
    assert [m.out_features for m in fitted.encoder.body.layers if isinstance(m, nn.Linear)][1] == 200


def test_arrays_and_loaders(four):
    pairs = four.sample(512, torch.Generator().manual_seed(0))
    config = TrainingConfig(dim=4, recipe=PLAIN, evaluation_pairs=256)
    from_arrays = fit((pairs.x.numpy(), pairs.x_pos.numpy()), config)
    assert "r2" not in from_arrays.history[-1]
    assert from_arrays.embed(pairs.x.numpy()).shape == (512, 4)
    loader = DataLoader(TensorDataset(pairs.x, pairs.x_pos), 64, shuffle=True)
    assert fit(loader, config).step == 10
    with pytest.raises(ValueError, match="`dim`, the number of embedding columns"):
        fit(loader, TrainingConfig(recipe=PLAIN))


@pytest.mark.parametrize("form", ["arrays", "loader"])
@pytest.mark.parametrize("weights", [torch.float32, torch.float64])
def test_data_of_any_float_type_go_to_any_encoder(form, weights):
    x = np.random.default_rng(0).normal(size=(300, 4))
    assert x.dtype == np.float64
    pairs = (x, x + 0.1)
    if form == "loader":
        pairs = DataLoader(TensorDataset(*map(torch.from_numpy, pairs)), 32)
    recipe = {**PLAIN, "whiten": True, "unfold": {"pairs": 1000}}
    config = TrainingConfig(recipe=recipe, evaluation_pairs=256)
    # It does not end in a linear layer, so that one is appended.
    encoder = nn.Sequential(MLP(4, 3, width=8), nn.Hardtanh(-5, 5)).to(weights)
    fitted = fit(pairs, config, encoder=encoder)
    assert fitted.step == 10
    assert {p.dtype for p in fitted.encoder.parameters()} == {weights}
    assert "held_out_loss" in fitted.history[-1]
    assert torch.isfinite(fitted.embed(x)).all()


def test_a_batch_that_will_not_fit_is_refused_at_once():
    x = torch.randn(600, 4)
    with pytest.raises(ValueError, match=r"at most 600, the number of pairs at hand, got 1024"):
        fit((x, x), TrainingConfig(dim=4))


def test_a_module_of_ones_own_is_trained_closed_saved_and_loaded(four, tmp_path):
    def make():
        return nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(), nn.Linear(16, 4), nn.Hardtanh(-5, 5))

    config = small_config(data=None, evaluate_every=0)
    fitted = fit(four, config, encoder=make(), loss=AnInfoNCE(4, normalize=False), directory=tmp_path)
    assert fitted.config.encoder.name == "custom"
    loaded = load_fitted(tmp_path, encoder=make())
    x = four.sample(5).x
    assert torch.equal(fitted.embed(x), loaded.embed(x))
    with pytest.raises(ValueError, match="a module of your own: pass it as `encoder`"):
        load_fitted(tmp_path)


def test_a_loss_that_normalises_is_refused_by_the_recipe(four):
    with pytest.raises(ValueError, match="normalize=False"):
        fit(four, TrainingConfig(), loss=AnInfoNCE(4))


def test_head_and_sizes_belong_to_the_run(four):
    with pytest.raises(ValueError, match="must leave out 'head'"):
        fit(four, TrainingConfig(encoder={"name": "mlp", "options": {"head": "sphere"}}))


def test_runs_repeat_bit_for_bit_and_leave_the_global_random_state(four):
    config = TrainingConfig(recipe=PLAIN, seed=4)
    torch.manual_seed(1)
    first = fit(four, config)
    state = torch.get_rng_state()
    second = fit(four, config)
    assert torch.equal(torch.get_rng_state(), state)
    x = four.sample(5, torch.Generator().manual_seed(0)).x
    assert torch.equal(first.embed(x), second.embed(x))
    assert not torch.equal(first.embed(x), fit(four, TrainingConfig(recipe=PLAIN, seed=5)).embed(x))


def test_log_files_hold_every_row(tmp_path):
    config = small_config()
    fitted = fit(open_data(config.data), config, directory=tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert rows == fitted.history
    assert [row["step"] for row in rows] == [10, 20, 30, 40, 50, 60, 60]
    with (tmp_path / "metrics.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [int(row["step"]) for row in table] == [10, 20, 30, 40, 50, 60, 60]
    assert table[0]["r2"] == ""
    assert float(table[1]["r2_style"]) == rows[1]["r2_style"]
    assert float(table[6]["concentration_10"]) == rows[6]["concentration"][9]
    assert TrainingConfig.model_validate_json((tmp_path / "config.json").read_text()) == fitted.config


def test_the_profile_covers_the_steps(four):
    profile = fit(four, TrainingConfig(recipe=PLAIN)).profile
    assert {"data", "encoder and loss", "optimiser"} <= profile.keys()


def test_images_and_hard_negatives():
    images = np.random.default_rng(0).normal(size=(64, 1, 64, 64)).astype(np.float32)
    config = TrainingConfig(
        dim=10, encoder="kitti-conv", recipe={**PLAIN, "steps": 2, "batch_size": 16}, evaluate_every=0
    )
    assert fit((images, images + 0.1), config).embed(images[:3]).shape == (3, 10)
    x = torch.randn(64, 4)
    negatives = torch.randn(64, 2, 4)
    assert fit((x, x + 0.1, negatives), TrainingConfig(dim=4, recipe=PLAIN, evaluate_every=0)).step == 10


def test_given_encoder_decides_the_dimension(four):
    pairs = four.sample(256, torch.Generator().manual_seed(0))
    fitted = fit((pairs.x, pairs.x_pos), TrainingConfig(recipe=PLAIN), encoder=MLP(4, 3, width=8))
    assert fitted.config.dim == 3


@pytest.mark.parametrize("precision", ["bf16-true", "16-true"])
def test_half_precision_goes_through_every_phase(tmp_path, precision, monkeypatch):
    """The closing fits find what they find on the same weights and pairs in float32.

    Two whole runs in two precisions are not alike: rounding sends them different ways within sixty steps.
    """
    found = []

    def closed_twice(embedding, last, loss, source, settings, generator):
        name = next(name for name, module in embedding.named_modules() if module is last)
        exact, exact_loss = copy.deepcopy(embedding).float(), copy.deepcopy(loss).float()
        before, drawn = source.state(), generator.get_state()
        in_float = close(exact, exact.get_submodule(name), exact_loss, source, settings, generator)
        source.restore(before)
        generator.set_state(drawn)
        in_half = close(embedding, last, loss, source, settings, generator)
        found.extend([in_half.concentration.float(), in_float.concentration])
        return in_half

    monkeypatch.setattr("aninfonce.training.phases.close", closed_twice)
    config = small_config()
    fabric = Fabric(accelerator="cpu", devices=1, precision=precision)
    fitted = fit(open_data(config.data), config, directory=tmp_path, fabric=fabric)
    torch.testing.assert_close(*found, rtol=0.1, atol=0.3)
    assert torch.isfinite(fitted.concentration).all()
    assert load_fitted(tmp_path).folding == fitted.folding
