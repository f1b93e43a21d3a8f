import numpy as np
import pytest

from aninfonce.estimator import ContrastiveICA
from aninfonce.estimator.settings import asks_for_steps, checked, own_names, training_config


def parameters(**changes):
    return checked(ContrastiveICA(**{"n_components": 3, **changes}).get_params(deep=False))


def test_numbers_that_a_search_sets_are_numbers():
    found = parameters(
        n_components=np.int64(3),
        max_steps=np.int32(7),
        batch_size=np.uint8(16),
        patience=np.int64(5),
        validation_fraction=np.float32(0.25),
        whiten=np.True_,
        encoder_options={"width": np.int64(8)},
        recipe={"adam_lr": np.float64(0.01)},
    )
    names = ("n_components", "max_steps", "batch_size", "patience", "validation_fraction", "whiten")
    assert [type(found[name]) for name in names] == [int, int, int, int, float, bool]
    config = training_config(found, 1000, seed=0)
    assert type(config.encoder.options["width"]) is int
    assert (config.dim, config.recipe.steps, config.recipe.batch_size) == (3, 7, 16)
    config.model_dump_json()


def test_few_passes_only_where_nothing_else_keeps_from_learning_by_heart():
    assert training_config(parameters(), 1000, seed=0).recipe.steps == 100
    assert training_config(parameters(), 1000, seed=0, few_passes=False).recipe.steps == 2000
    for asked in (parameters(max_steps=700), parameters(recipe={"steps": 700})):
        assert asks_for_steps(asked)
        assert training_config(asked, 1000, seed=0).recipe.steps == 700
    assert not asks_for_steps(parameters())


def test_errors_from_training_have_the_estimators_names():
    with pytest.raises(ValueError, match=r"^`n_components` must be 3 and `loss_options` empty$"), own_names():
        raise ValueError("`dim` must be 3 and `loss.options` empty")
    with pytest.raises(ValueError, match=r"^other$"), own_names():
        raise ValueError("other")
