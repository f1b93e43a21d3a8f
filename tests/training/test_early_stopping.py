"""The weights of the best held-out score are kept, and a phase in which it no longer rises is ended."""

import copy

import pytest
import torch

from aninfonce.encoders import SphereHead
from aninfonce.encoders.embedding import Embedding
from aninfonce.training import Trainer
from aninfonce.training.early_stopping import EarlyStopping
from aninfonce.training.open_data import open_data
from tests.training.small import small_config

PLAIN = {"close": None, "steps": 400}


class Scripted:
    """A score that peaks at chosen steps, one a phase, and the weights that it was shown there."""

    def __init__(self, *peaks):
        self.peaks, self.shown, self.trainer = peaks, {}, None

    def __call__(self, embedding, loss):
        step, on_sphere = self.trainer.step, isinstance(embedding.head, SphereHead)
        self.shown[step, on_sphere] = copy.deepcopy(embedding.state_dict())
        return -abs(step - self.peaks[on_sphere])


def trained(score, patience=4, **recipe):
    config = small_config(recipe={**PLAIN, **recipe}, evaluate_every=0)
    trainer = Trainer(open_data(config.data), config, stopping=EarlyStopping(score, patience))
    score.trainer = trainer
    return trainer, trainer.fit()


def same(state, other):
    return all(torch.equal(value, other[name]) for name, value in state.items())


def test_both_phases_end_at_their_best_and_the_second_is_shortened():
    score = Scripted(30, 70)
    trainer, fitted = trained(score, unfold={"share": 0.5, "pairs": 2000})
    # Four evaluations after step 30, five steps apart.
    assert trainer.recipe.steps == 100
    assert trainer.step == 90
    assert trainer.stopping.best_step == 70
    assert same(fitted.encoder.state_dict(), score.shown[70, True])
    assert trainer.stopping.steps == [*range(5, 55, 5), *range(50, 95, 5)]
    # The sphere's first weights are those of step 30, but for the last layer that the map goes into.
    first, mapped = score.shown[30, False], score.shown[50, True]
    changed = {name for name, value in first.items() if not torch.equal(value, mapped[name])}
    assert len(changed) == 2
    assert trainer.config.recipe.steps == 400


def test_weights_as_they_were_mapped_may_be_the_best():
    trainer, _ = trained(Scripted(30, 0), unfold={"share": 0.5, "pairs": 2000})
    assert trainer.stopping.best_step == 30
    assert trainer.step == 70


def test_a_phase_without_patience_uses_all_its_steps_and_still_keeps_the_best():
    score = Scripted(30, 70)
    trainer, fitted = trained(score, patience=None, steps=120, unfold={"share": 0.5, "pairs": 2000})
    assert trainer.step == 120
    assert trainer.stopping.best_step == 70
    assert same(fitted.encoder.state_dict(), score.shown[70, True])


def test_a_run_with_one_phase_stops():
    score = Scripted(None, 20)
    trainer, fitted = trained(score, unfold=None)
    assert trainer.step == 40
    assert same(fitted.encoder.state_dict(), score.shown[20, True])


def test_what_is_scored_and_kept_is_the_running_mean_of_weights_that_train_as_without_it(monkeypatch):
    config = small_config(recipe={"steps": 40, "unfold": None, "close": None}, evaluate_every=0)
    rising = iter(range(1000))
    seen = []
    one_step = Trainer._one_step

    def remembered(trainer):
        value = one_step(trainer)
        seen.append(torch.nn.utils.parameters_to_vector(trainer.embedding.parameters()).detach().double())
        return value

    monkeypatch.setattr(Trainer, "_one_step", remembered)
    stopping = EarlyStopping(lambda *_: float(next(rising)), 2)
    watched = Trainer(open_data(config.data), config, stopping=stopping).fit()
    averaged, seen = seen, []
    alone = Trainer(open_data(config.data), config).fit()
    assert all(torch.equal(mine, other) for mine, other in zip(averaged, seen, strict=True))
    # Written out: the past counts 1 − 1/(1 + t/5), and never more than 0.98.
    mean = averaged[0]
    for t, newest in enumerate(averaged[1:], start=2):
        past = min(0.98, 1 - 1 / (1 + t / 5))
        mean = past * mean + (1 - past) * newest
    kept = torch.nn.utils.parameters_to_vector(watched.encoder.parameters()).double()
    torch.testing.assert_close(kept, mean, rtol=1e-5, atol=1e-6)
    assert not same(watched.encoder.state_dict(), alone.encoder.state_dict())


def test_evaluations_are_close_at_first_and_a_hundred_in_the_long_run():
    stopping = EarlyStopping(lambda *_: 0.0)

    class Still:
        step, loss, optimizers = 0, torch.nn.Identity(), ()
        embedding = Embedding(torch.nn.Linear(1, 1), torch.nn.Identity())
        recipe = small_config(recipe={"steps": 20_000}).recipe

        @staticmethod
        def watch(_):
            return torch.no_grad()

    for Still.step in range(1, 20_001):
        stopping.ends_phase(Still)
    assert stopping.steps[:3] == [5, 10, 15]
    assert stopping.steps[-1] == 20_000
    assert stopping.steps[-2] - stopping.steps[-3] == 200
    assert len(stopping.steps) < 250


def test_checkpoints_and_stopping_exclude_each_other(tmp_path):
    config = small_config()
    with pytest.raises(ValueError, match="`stopping` keeps weights in memory"):
        Trainer(open_data(config.data), config, directory=tmp_path, stopping=EarlyStopping(lambda *_: 0.0))
    with pytest.raises(ValueError, match="`patience` must be a whole number"):
        EarlyStopping(lambda *_: 0.0, patience=0)
