import pytest
import torch
from pydantic import ValidationError

from aninfonce.processes import ProcessSettings, ensemble_process, preset_names, process, process_settings
from aninfonce.processes.presets import PRESETS

UNIFORM_SPHERE = {"space": "sphere", "dim": 3}


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_draws_where_it_should(name):
    built = process(name, mixing="identity")
    batch = built.sample(50, torch.Generator().manual_seed(0))
    assert built.space.contains(batch.z).all()
    assert built.space.contains(batch.z_pos).all()
    assert not torch.equal(batch.z, batch.z_pos)


def test_the_settings_of_the_papers():
    assert process("fig2/150", mixing="identity").concentration.tolist() == [5.0] * 5 + [150.0] * 5
    lin = process("fig2/linspace", mixing="identity").concentration
    assert torch.allclose(lin, torch.linspace(5, 25, 10))
    assert process("fig9/d33", mixing="identity").concentration.tolist() == [75.0] * 33
    hard = process("fig10", mixing="identity").sample(4, torch.Generator().manual_seed(0))
    assert hard.z_neg.shape == (4, 3, 20)
    assert len([name for name in preset_names() if name.startswith("table1/")]) == 12
    assert len([name for name in preset_names() if name.startswith("table2/")]) == 10
    row12 = process("table1/row12", mixing="identity").sample(4000, torch.Generator().manual_seed(0))
    assert row12.z.std() == pytest.approx(1.0, abs=0.05)
    assert (row12.z_pos - row12.z).std() == pytest.approx(1.0, abs=0.05)


def test_poles_face_each_other():
    north, south = (
        process(f"fig6/{pole}10", mixing="identity").sample(500, torch.Generator().manual_seed(0)).z
        for pole in ("north", "south")
    )
    assert north[:, 0].min() > 0.5
    assert south[:, 0].max() < -0.5
    assert process_settings("fig6/north1").marginal.concentration == 0.01


def test_seed_draws_the_mixing():
    first, same, other = (process("fig2/25", seed, candidates=10).mixing.weights for seed in (1, 1, 2))
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_ensemble_alternates_around_shared_latents():
    one, two = ensemble_process(candidates=10).processes
    assert one.mixing is two.mixing
    assert one.concentration.tolist() == [400.0] * 3 + [15.0] * 7 + [250.0] * 10
    assert two.concentration.tolist() == [400.0] * 3 + [250.0] * 7 + [15.0] * 10


def test_settings_survive_json():
    for name in preset_names():
        settings = process_settings(name)
        assert ProcessSettings.model_validate_json(settings.model_dump_json()) == settings


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"conditional": {"kind": "gauss", "scale": 1}}, "'fisher-bingham', 'approximate-fisher-bingham'"),
        ({"conditional": {"kind": "fisher-bingham", "concentration": -1}}, "greater than or equal to 0"),
        (
            {"conditional": {"kind": "fisher-bingham", "concentration": (1, 2)}},
            "must have 3 concentrations.*got 2",
        ),
        (
            {"conditional": {"kind": "vmf", "concentration": 1}, "space": "box"},
            "lives on the sphere, got space 'box'",
        ),
        ({"conditional": {"kind": "normal", "scale": 0}}, "greater than 0"),
        (
            {"conditional": {"kind": "normal", "scale": 1, "shape": 3}},
            "`shape` belongs to 'generalized-normal'",
        ),
        ({"conditional": {"kind": "normal", "scale": 1}, "space": "unbounded"}, "`marginal` must be a law"),
        ({"conditional": {"kind": "vmf", "concentration": 1}, "dim": 1}, "greater than or equal to 2"),
        ({"conditional": {"kind": "vmf", "concentration": 1}, "colour": "red"}, "colour"),
    ],
)
def test_bad_settings_say_what_was_expected(fields, message):
    with pytest.raises(ValidationError, match=message):
        ProcessSettings(**{**UNIFORM_SPHERE, **fields})


def test_names_are_listed_without_building_any():
    assert preset_names() == list(PRESETS)


def test_unknown_name_suggests_close_ones():
    with pytest.raises(ValueError, match=r"got 'table1/row13'; did you mean 'table1/row"):
        process("table1/row13")
