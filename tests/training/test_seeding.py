"""A run's seed decides everything that is drawn in it, whatever torch's global generator holds."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from aninfonce import _seeds
from aninfonce.augment import Flip, ViewSource
from aninfonce.encoders import register_encoder
from aninfonce.encoders.registry import _BUILDERS
from aninfonce.processes import PairBatch, process
from aninfonce.sources import ArraySource, NeighbourOrder, SequenceSource
from aninfonce.training import Trainer, TrainingConfig, TrainingInterrupted, fit, loop
from tests.training.small import small_config
from tests.training.test_resume import _StopAt

PLAIN = {"unfold": None, "close": None, "steps": 6, "growth": [], "batch_size": 32}
X = torch.randn(400, 10, generator=torch.Generator().manual_seed(0))


def _weights(fitted):
    return {**fitted.encoder.state_dict(), **{f"loss.{k}": v for k, v in fitted.loss.state_dict().items()}}


def _assert_equal(one, other):
    assert one.keys() == other.keys()
    assert [name for name in one if not torch.equal(one[name], other[name])] == []


def _with_global(seed, run):
    """Run something with the global generator in a given state; it must be left in that state."""
    torch.manual_seed(seed)
    before = torch.get_rng_state()
    fitted = run()
    assert torch.equal(before, torch.get_rng_state())
    return _weights(fitted)


def _dropout():
    with _seeds.global_stream(0, "a network of the test"):
        return nn.Sequential(nn.Linear(10, 16), nn.Dropout(0.5), nn.Linear(16, 10))


def _shuffled():
    return DataLoader(TensorDataset(X, X + 0.1), 32, shuffle=True)


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_weights_of_a_potential_come_from_the_seed(symmetric):
    options = {"potential": True, "symmetric": symmetric}
    world = process("fig2/25", mixing="identity")

    def run(seed=3):
        loss = {"name": "aninfonce", "options": options}
        return fit(world, TrainingConfig(recipe=PLAIN, loss=loss, seed=seed))

    first, second = _with_global(1, run), _with_global(2, run)
    assert sum("potential" in name for name in first) == 6 * (1 + symmetric)
    _assert_equal(first, second)
    other = _with_global(1, lambda: run(4))
    assert not torch.equal(
        first["loss.potentials.0.layers.0.weight"], other["loss.potentials.0.layers.0.weight"]
    )


def test_dropout_and_the_order_of_a_loader_come_from_the_seed():
    def run(seed=3):
        return fit(_shuffled(), TrainingConfig(recipe=PLAIN, seed=seed), encoder=_dropout())

    first, second = _with_global(1, run), _with_global(2, run)
    _assert_equal(first, second)
    other = _with_global(1, lambda: run(4))
    assert not torch.equal(first["body.0.weight"], other["body.0.weight"])


def test_whitening_and_a_layer_that_is_appended_leave_the_global_generator_alone():
    recipe = {**PLAIN, "whiten": True, "unfold": {"pairs": 1000}}

    def run():
        encoder = nn.Sequential(*_dropout(), nn.Tanh())
        return fit(_shuffled(), TrainingConfig(recipe=recipe, seed=3), encoder=encoder)

    _assert_equal(_with_global(1, run), _with_global(2, run))


def test_an_encoder_that_ignores_the_generator_is_seeded_too():
    register_encoder(
        "heedless", lambda in_features, out_features, generator: nn.Linear(in_features, out_features)
    )
    try:
        config = TrainingConfig(recipe=PLAIN, encoder="heedless")
        world = process("fig2/25", mixing="identity")
        _assert_equal(
            _with_global(1, lambda: fit(world, config)), _with_global(2, lambda: fit(world, config))
        )
    finally:
        _BUILDERS.pop("heedless")


def test_a_run_with_dropout_and_a_loader_resumes_exactly(tmp_path):
    config = small_config(data=None, recipe={**PLAIN, "steps": 40}, log_every=5, evaluate_every=0)
    whole = _weights(fit(_shuffled(), config, encoder=_dropout()))
    with pytest.raises(TrainingInterrupted):
        fit(_shuffled(), config, encoder=_dropout(), directory=tmp_path, reporters=[_StopAt(25)])
    torch.manual_seed(77)
    resumed = fit(_shuffled(), config, encoder=_dropout(), directory=tmp_path, resume=True)
    _assert_equal(whole, _weights(resumed))


IMAGES = torch.rand(80, 1, 4, 4, generator=torch.Generator().manual_seed(1))
FRAMES = [np.random.default_rng(i).normal(size=(20, 10)).astype(np.float32) for i in range(20)]
PAIRS = {
    "process": lambda seed: process("fig2/25", seed, candidates=20),
    "arrays": lambda seed: (X, X + 0.1),
    "neighbours": lambda seed: ArraySource(PairBatch(X, X + 0.1), seed, order=NeighbourOrder(X, seed)),
    "loader": lambda seed: _shuffled(),
    "views": lambda seed: ViewSource(IMAGES, Flip(p=0.5), seed, flat=True),
    "sequences": lambda seed: SequenceSource(FRAMES, seed=seed),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_no_two_streams_of_runs_coincide(monkeypatch, kind):
    derived = []
    derive = _seeds.derive_seed

    def record(*purpose):
        derived.append(derive(*purpose))
        return derived[-1]

    monkeypatch.setattr(_seeds, "derive_seed", record)
    for seed in range(3):
        recipe = {**PLAIN, "steps": 2, "batch_size": 16, "whiten": True}
        loss = {"name": "aninfonce", "options": {"potential": True}}
        fit(PAIRS[kind](seed), TrainingConfig(dim=10, recipe=recipe, loss=loss, seed=seed, evaluate_every=0))
    # At least weights of encoder and loss, pairs, held-out pairs, folding check, and what draws globally.
    assert len(derived) >= 3 * 7
    assert len(set(derived)) == len(derived)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_generators_of_a_run_have_different_seeds(monkeypatch, seed):
    found = []
    build = loop.build_embedding

    def look(config, generator, encoder):
        found.append(generator)
        return build(config, generator, encoder)

    monkeypatch.setattr(loop, "build_embedding", look)
    trainer = Trainer(process("fig2/25", mixing="identity"), TrainingConfig(seed=seed))
    found += [trainer.closing_generator, trainer.source._stream, trainer.source._aside]
    order = NeighbourOrder(X, seed)
    found += [order._stream, order._middles]
    assert len({generator.initial_seed() for generator in found}) == 6
