import numpy as np
import pytest
from torch import nn

from aninfonce.estimator import ContrastiveICA
from aninfonce.estimator.pairs import paired
from aninfonce.estimator.settings import asks_for_steps, checked, draw_seed, own_names, training_config
from tests.estimator.small import frames

PAIRS = [paired(frames(np.zeros((1000, 3))), np.zeros((1000, 3)))]


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
    config = training_config(PAIRS, found, seed=0)
    assert type(config.encoder.options["width"]) is int
    assert (config.dim, config.recipe.steps, config.recipe.batch_size) == (3, 7, 16)
    config.model_dump_json()


def test_few_passes_only_where_nothing_else_keeps_from_learning_by_heart():
    assert training_config(PAIRS, parameters(), seed=0).recipe.steps == 100
    assert training_config(PAIRS, parameters(), seed=0, few_passes=False).recipe.steps == 2000
    for asked in (parameters(max_steps=700), parameters(recipe={"steps": 700})):
        assert asks_for_steps(asked)
        assert training_config(PAIRS, asked, seed=0).recipe.steps == 700
    assert not asks_for_steps(parameters())


def test_errors_from_training_have_the_estimators_names():
    with pytest.raises(ValueError, match=r"^`n_components` must be 3 and `loss_options` empty$"), own_names():
        raise ValueError("`dim` must be 3 and `loss.options` empty")
    with pytest.raises(ValueError, match=r"^other$"), own_names():
        raise ValueError("other")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lag": {1, 2}}, r"`lag` must be a whole number, a list of them or 'auto', got \{1, 2\}"),
        ({"lag": {1: 2}}, "`lag` must be a whole number, a list"),
        (
            {"encoder": nn.Linear(6, 3), "encoder_options": {"width": 8}},
            "`encoder_options` must be None where",
        ),
    ],
)
def test_what_would_be_ignored_or_lost_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        parameters(**changes)


@pytest.mark.parametrize("state", [-1, "a", np.random.default_rng(0)])
def test_a_bad_random_state_is_named(state):
    with pytest.raises(ValueError, match=r"^`random_state` must be a number, a RandomState or None"):
        draw_seed(state)
    assert draw_seed(np.random.RandomState(0)) == draw_seed(0)
