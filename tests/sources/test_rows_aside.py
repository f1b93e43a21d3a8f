"""Held out means held out: no step, fit or epoch ever meets those pairs."""

import numpy as np
import pytest
import torch
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    DistributedSampler,
    IterableDataset,
    SubsetRandomSampler,
    TensorDataset,
)

from aninfonce.augment import Flip, ViewSource
from aninfonce.processes import PairBatch, process
from aninfonce.sources import (
    ArraySource,
    LoaderSource,
    NeighbourOrder,
    ProcessSource,
    SequenceSource,
    as_source,
)
from aninfonce.sources.rows_aside import groups_aside, others, rows_aside
from aninfonce.training import Trainer, TrainingConfig, fit

N = 400
# A row's own number in every column, so that it is known again.
X = torch.arange(float(N))[:, None].expand(N, 4).contiguous()
RECIPE = {"unfold": None, "close": None, "steps": 8, "growth": [], "batch_size": 32}


def _loader(**options):
    return DataLoader(TensorDataset(X, X + 0.25), **{"batch_size": 16, "shuffle": True, **options})


def _frames():
    # Sequence s holds the numbers from 100 s on.
    return SequenceSource(
        [100.0 * s + np.arange(21, dtype=np.float32)[:, None] for s in range(20)], largest_gap=3, seed=1
    )


def _views():
    return ViewSource((X[:, :1, None, None] / N).expand(N, 1, 2, 2).contiguous(), Flip(p=0.5), seed=1)


SOURCES = {
    "arrays": lambda: ArraySource(PairBatch(X, X + 0.25), seed=1),
    "neighbours": lambda: ArraySource(PairBatch(X, X + 0.25), 1, order=NeighbourOrder(X, 1)),
    "views": _views,
    "sequences": _frames,
    "loader": lambda: LoaderSource(_loader(), 1),
    "loader in order": lambda: LoaderSource(_loader(shuffle=False), 1),
    "loader, incomplete batches left out": lambda: LoaderSource(_loader(drop_last=True, batch_size=30), 1),
    "loader with workers": lambda: LoaderSource(_loader(num_workers=1), 1),
    "list of batches": lambda: LoaderSource([(x, x + 0.25) for x in X.split(16)], 1),
}


def _rows(batch):
    """Numbers of the rows in either place; images hold them as shares of 1."""
    values = torch.cat([batch.x, batch.x_pos]).flatten(1)[:, 0] * (N if batch.x.ndim == 4 else 1)
    return set(values.round().tolist())


@pytest.mark.parametrize("kind", SOURCES)
def test_no_step_and_no_fit_meets_them(kind):
    source, again = SOURCES[kind](), SOURCES[kind]()
    aside = source.set_aside(0.1, 4096, 16)
    assert 16 <= len(aside) <= 40
    torch.manual_seed(0)
    steps = set().union(*(_rows(source.next(16)) for _ in range(100)))
    fits = _rows(source.fresh(N))
    assert _rows(aside).isdisjoint(steps | fits)
    # Everything else is still trained on.
    kept = 18 * 21 if kind == "sequences" else N - len(aside)
    assert len(fits) == kept or kind in ("sequences", "loader, incomplete batches left out")
    assert len(steps) >= 0.9 * kept
    # The same pairs for the same seed, whoever asks and how often.
    assert torch.equal(again.set_aside(0.1, 4096, 16).x, aside.x)
    assert torch.equal(again.set_aside(0.1, 4096, 16).x, aside.x)


def test_another_seed_holds_out_other_rows():
    one, other = (ArraySource(PairBatch(X, X), seed).set_aside(0.1, 4096, 16).x for seed in (0, 1))
    assert set(one[:, 0].tolist()) != set(other[:, 0].tolist())


def test_a_process_draws_new_pairs_of_its_own():
    world = process("fig2/25", mixing="identity")
    source = ProcessSource(world, seed=3, bulk=500)
    aside = source.set_aside(0.0, 300, 64)
    assert len(aside) == 300
    assert aside.z is not None
    met = torch.cat([source.next(500).x, source.fresh(500).x])
    assert not bool((aside.x[:, None, 0] == met[None, :, 0]).any())


class _Endless(IterableDataset):
    def __iter__(self):
        return iter(zip(X, X, strict=True))


class _Batches:
    def __iter__(self):
        return iter([(X, X)])


@pytest.mark.parametrize(
    "loader",
    [
        DataLoader(_Endless(), batch_size=16),
        _Batches(),
        DataLoader(TensorDataset(X, X), 16, sampler=SubsetRandomSampler(range(N // 2))),
        DataLoader(TensorDataset(X, X), batch_sampler=[list(range(16))] * 9),
        DataLoader(TensorDataset(X[:20], X[:20]), 16),
        [(X, X)],
    ],
    ids=["stream", "iterable", "part of the rows", "batches of one's own", "few", "one batch"],
)
def test_what_cannot_be_split_is_left_whole(loader):
    source = LoaderSource(loader)
    assert source.set_aside(0.1, 4096, 16) is None
    assert source.loader is loader


def test_processes_with_shards_of_a_loader_hold_out_the_same_rows_and_share_the_rest():
    data, aside, steps = TensorDataset(X, X), [], []
    for rank in range(2):
        sampler = DistributedSampler(data, 2, rank, shuffle=True, seed=5)
        source = LoaderSource(DataLoader(data, 15, sampler=sampler), seed=1)
        aside.append(source.set_aside(0.1, 4096, 16).x)
        batches = list(source.loader)
        assert [len(batch[0]) for batch in batches] == [15] * 12
        steps.append(set(torch.cat([batch[0] for batch in batches])[:, 0].tolist()))
    assert torch.equal(*aside)
    assert steps[0].isdisjoint(steps[1])
    assert set(aside[0][:, 0].tolist()) == set(range(N)) - steps[0] - steps[1]


@pytest.mark.parametrize("rows", [100, 150, 1000, 100_000])
def test_how_many_rows(rows):
    found = rows_aside(rows, 0.1, 4096, 100, seed=0)
    if rows - rows // 10 < 100 or rows // 10 < 16:
        assert found is None
    else:
        assert len(found.unique()) == min(rows // 10, 4096)
        assert len(others(rows, found)) == rows - len(found)
    assert rows_aside(rows, 0.0, 4096, 1, seed=0) is None


def test_whole_groups_up_to_the_share():
    sizes = torch.tensor([30] * 20)
    assert len(groups_aside(sizes, 0.1, 4096, 100, seed=0)) == 2
    assert len(groups_aside(sizes, 0.5, 90, 100, seed=0)) == 3
    assert groups_aside(sizes, 0.01, 4096, 100, seed=0) is None
    assert groups_aside(sizes, 0.5, 4096, 400, seed=0) is None
    assert groups_aside(torch.empty(0, dtype=torch.long), 0.5, 10, 1, seed=0) is None


def _config(**changes):
    return TrainingConfig(dim=4, recipe=RECIPE, log_every=4, evaluate_every=4, checkpoint_every=0, **changes)


def _pairs(n=N, seed=0):
    x = torch.randn(n, 4, generator=torch.Generator().manual_seed(seed))
    return x, x + 0.1


@pytest.mark.parametrize("form", ["arrays", "loader"])
def test_a_run_evaluates_on_what_it_never_trains_on(form):
    x, x_pos = _pairs()
    pairs = (x, x_pos) if form == "arrays" else DataLoader(TensorDataset(x, x_pos), 32, shuffle=True)
    trainer = Trainer(pairs, _config())
    fitted = trainer.fit()
    assert all("held_out_loss" in row and "training_pairs_loss" not in row for row in fitted.history)
    assert len(trainer.monitor.pairs) == 40
    seen = torch.cat([trainer.source.next(32).x for _ in range(50)])
    assert not bool((trainer.monitor.pairs.x[:, None] == seen[None]).all(dim=2).any())


@pytest.mark.parametrize(
    "pairs", [_pairs(40), [(x, y) for x, y in zip(*(p.split(50) for p in _pairs()), strict=True)]]
)
def test_a_run_that_holds_nothing_out_says_so(pairs):
    with pytest.warns(UserWarning, match="no pairs are held out"):
        fitted = fit(pairs, _config())
    assert all("training_pairs_loss" in row and "held_out_loss" not in row for row in fitted.history)


def test_nothing_is_held_out_if_so_asked():
    x, x_pos = _pairs()
    trainer = Trainer((x, x_pos), _config(held_out=0.0))
    assert trainer.source.largest_batch == N
    assert "training_pairs_loss" in trainer.monitor.measure(trainer.embedding, trainer.loss)


@pytest.mark.parametrize("form", ["arrays", "loader"])
def test_pairs_to_evaluate_on_can_be_given(form):
    other = _pairs(64, seed=1)
    given = other if form == "arrays" else DataLoader(TensorDataset(*other), 16)
    trainer = Trainer(_pairs(), _config(), held_out=given)
    assert trainer.source.largest_batch == N
    assert trainer.monitor.held_out
    assert set(trainer.monitor.pairs.x[:, 0].tolist()) == set(other[0][:, 0].tolist())


def test_the_loader_still_says_where_it_stands_with_rows_held_out():
    def make():
        source = LoaderSource(_loader(generator=torch.Generator().manual_seed(3)), 1)
        source.set_aside(0.1, 4096, 16)
        return source

    source, other = make(), make()
    for _ in range(30):
        source.next(16)
    other.restore({name: tensor.clone() for name, tensor in source.state().items()})
    assert all(torch.equal(source.next(16).x, other.next(16).x) for _ in range(40))


def test_as_source_passes_the_seed_on():
    one, other = (as_source(_loader(), seed).set_aside(0.1, 4096, 16).x for seed in (0, 1))
    assert not torch.equal(one, other)


def test_batches_of_ones_own_kind_are_not_taken_apart():
    class Own(BatchSampler):
        pass

    data = TensorDataset(X, X)
    loader = DataLoader(data, batch_sampler=Own(range(N), 16, False))
    assert LoaderSource(loader).set_aside(0.1, 4096, 16) is None
