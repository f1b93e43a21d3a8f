import pytest
from pydantic import ValidationError

from aninfonce.training import Recipe, TrainingConfig, Unfolding, load_config


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
        ("seed: many\ndim: 1", r"(?s)`dim`.*`seed`"),
        ("data: {process: fig2/25, arrays: a.npz}", "either `process` or `arrays`"),
        ("- 1", "must hold settings"),
        ("a: [", "not valid YAML"),
    ],
)
def test_bad_files_are_explained(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        load_config(_write(tmp_path, text))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read .*nowhere.yaml"):
        load_config(tmp_path / "nowhere.yaml")


def test_settings_are_frozen():
    with pytest.raises(ValidationError):
        TrainingConfig().seed = 4
