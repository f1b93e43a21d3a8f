from typing import get_args

import pytest
from pydantic import ValidationError

from aninfonce.losses import functional
from aninfonce.similarities import _positive
from aninfonce.training import Recipe, TrainingConfig, Unfolding, load_config, loss_options
from aninfonce.training.config import identity, parse_config, stored_config


def _write(tmp_path, text):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return path


def test_defaults_are_the_fast_recipe_and_survive_json():
    config = TrainingConfig()
    assert config.recipe.name == "fast"
    assert config.unfolds
    assert config.closes
    assert TrainingConfig.model_validate_json(config.model_dump_json()) == config


@pytest.mark.parametrize("recipe", ["paper", {"name": "paper"}, Recipe(name="paper")])
def test_the_papers_recipe_in_any_spelling(recipe):
    config = TrainingConfig(recipe=recipe)
    assert (config.recipe.optimizer, config.recipe.adam_lr, config.recipe.decay) == ("adam", 1e-4, "none")
    assert config.encoder.name == "paper-mlp"
    assert config.loss.options == {"positive_map": "softplus"}
    assert not config.unfolds
    assert not config.closes
    assert TrainingConfig.model_validate_json(config.model_dump_json()) == config


def test_single_settings_change_a_recipe():
    config = TrainingConfig(recipe={"name": "paper", "steps": 7}, encoder="mlp", loss="aninfonce")
    assert config.recipe.steps == 7
    assert config.recipe.adam_lr == 1e-4
    assert config.encoder.name == "mlp"
    assert config.loss.options == {}


@pytest.mark.parametrize(
    "settings", [{"loss": "infonce"}, {"space": "box"}, {"recipe": {"unfold": None, "close": None}}]
)
def test_the_sphere_is_unfolded_for_aninfonce_on_the_sphere_only(settings):
    assert not TrainingConfig(**settings).unfolds
    assert not TrainingConfig(**settings).closes


def test_yaml_file(tmp_path):
    path = _write(tmp_path, "data:\n  process: fig2/25\nrecipe:\n  steps: 10\n  unfold: {share: 0.3}\n")
    config = load_config(path)
    assert config.data.process == "fig2/25"
    assert config.recipe.unfold == Unfolding(share=0.3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recipe: {stpes: 10}", "`recipe.stpes` is not a known setting"),
        ("recipe: {steps: -1}", r"`recipe.steps`: .*greater than 0, got -1"),
        ("recipe: slow", r"`recipe.name`: .*'fast' or 'paper', got 'slow'"),
        ("seed: many\ndim: 0", r"(?s)`dim`.*`seed`"),
        ("data: {process: fig2/25, arrays: a.npz}", "either `process` or `arrays`"),
        ("data: {arrays: a.npz, sha256: 12}", r"`data.sha256`: .*string"),
        ("data: {process: fig2/25, sha256: " + 64 * "a" + "}", "`sha256` belongs to `arrays`"),
        ("recipe: {adam_lr: 1e400}", "`recipe.adam_lr`: .*finite number, got '1e400'"),
        ("recipe: {muon_lr: .inf}", "`recipe.muon_lr`: .*finite number, got inf"),
        ("loss: {options: {symmetric: 'no'}}", "`loss.options.symmetric`: .*boolean, got 'no'"),
        ("loss: {options: {reduction: none}}", "`loss.options.reduction`: .*'mean' or 'sum', got 'none'"),
        ("loss: {options: {initial: [1, -1]}}", "`loss.options.initial.1`: .*greater than 0, got -1"),
        (
            "loss: {name: infonce, options: {tempreature: 1}}",
            "`loss.options.tempreature` is not a known setting",
        ),
        ("loss: {name: nt-xent, options: {normalize: true}}", "`loss.options.normalize` is not a known"),
        ("held_out: 1", "`held_out`: .*less than 1, got 1"),
        ("- 1", "must hold settings"),
        ("a: [", "not valid YAML"),
    ],
)
def test_bad_files_are_explained(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        load_config(_write(tmp_path, text))


def test_problems_are_told_by_the_names_that_the_user_knows():
    names = {"recipe.steps": "max_steps", "dim": "n_components", "loss.options": "loss_options"}
    data = {"dim": 0, "recipe": {"steps": -1, "adam_lr": 0}, "loss": {"options": {"symmetric": "no"}}}
    with pytest.raises(ValueError, match="parameters: ") as caught:
        parse_config(data, source="parameters", names=names)
    lines = str(caught.value).splitlines()[1:]
    expected = ["n_components", "loss_options.symmetric", "max_steps", "recipe.adam_lr"]
    assert [line.split("`")[1] for line in lines] == expected


def test_many_problems_are_cut_short(tmp_path):
    text = "\n".join(f"s{i}: 0" for i in range(500))
    with pytest.raises(ValueError, match="`s0` is not a known setting") as caught:
        load_config(_write(tmp_path, text))
    assert str(caught.value).count("\n") == 21
    assert str(caught.value).endswith("and 480 more")


def test_options_of_a_loss_come_in_their_types_and_survive_json():
    options = {"temperature": "5e-1", "initial": [1, 2], "potential": True}
    config = TrainingConfig(loss={"name": "aninfonce", "options": options})
    assert config.loss.options == {"temperature": 0.5, "initial": (1.0, 2.0), "potential": True}
    assert TrainingConfig.model_validate_json(config.model_dump_json()) == config


def test_arrays_are_found_from_the_folder_of_the_file(tmp_path, monkeypatch):
    (tmp_path / "settings").mkdir()
    path = _write(tmp_path / "settings", "data: {arrays: ../pairs.npz}")
    monkeypatch.chdir(tmp_path)
    for name in (path, "settings/config.yaml"):
        assert load_config(name).data.arrays == tmp_path.resolve() / "pairs.npz"


def test_runs_differ_by_what_arrays_hold_and_not_by_where_they_lie():
    def of(arrays, sha256=None, seed=0):
        return identity(TrainingConfig(data={"arrays": arrays, "sha256": sha256}, seed=seed))

    one, other = "1" * 64, "2" * 64
    assert of("/a.npz", one) == of("/b.npz", one)
    assert of("/a.npz", one) != of("/a.npz", other)
    assert of("/a.npz") != of("/b.npz")
    assert of("/a.npz", one, seed=1) != of("/a.npz", one)


def test_runs_from_before_there_were_held_out_pairs_have_none():
    settings = TrainingConfig(seed=4).model_dump(mode="json")
    assert stored_config(settings).held_out == 0.1
    del settings["held_out"]
    assert stored_config(settings) == TrainingConfig(seed=4, held_out=0.0)


def test_choices_of_a_configuration_are_those_of_the_losses():
    assert get_args(loss_options.Candidates) == get_args(functional.Candidates)
    assert get_args(loss_options.PositiveMap) == get_args(_positive.PositiveMap)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read .*nowhere.yaml"):
        load_config(tmp_path / "nowhere.yaml")


def test_settings_are_frozen():
    with pytest.raises(ValidationError):
        TrainingConfig().seed = 4


@pytest.mark.parametrize("text", ["dim: yes", "seed: true", "recipe: {adam_lr: on}", "held_out: false"])
def test_truth_is_no_number(text, tmp_path):
    with pytest.raises(ValueError, match=r"Input should be a valid (integer|number).*, got '(true|false)'"):
        load_config(_write(tmp_path, text))


def test_truth_is_truth_where_it_is_asked_for():
    assert parse_config({"recipe": {"whiten": True}}).recipe.whiten is True
