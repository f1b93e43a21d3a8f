"""Loaders split in two: batches to train on, and batches that are held out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
)

from aninfonce.sources.base import as_pair_batch
from aninfonce.sources.rows_aside import groups_aside, others, rows_aside


class Split(NamedTuple):
    """Both parts of a loader."""

    kept: Iterable[Any]
    """To train on, in the order that the loader gives."""
    aside: Iterable[Any]
    """Batches that are held out."""


def split_loader(loader: Iterable[Any], share: float, most: int, seed: int) -> Split | None:
    """Hold out rows of a loader's data set, or batches of a list, as `rows_aside` does; None where it cannot.

    Rows can be told apart where a `DataLoader` deals out an indexed data set, shuffled or not, in one
    process or in several. Other iterables may give any row at any time.
    """
    if isinstance(loader, list | tuple):
        return _split_batches(loader, share, most, seed)
    if type(loader) is not DataLoader or isinstance(loader.dataset, IterableDataset):
        return None
    # A sampler or batches of the user's own may leave out rows on purpose: those are no fair sample.
    kinds = (RandomSampler, SequentialSampler, DistributedSampler)
    if type(loader.batch_sampler) is not BatchSampler or type(loader.sampler) not in kinds:
        return None
    return _split_rows(loader, share, most, seed)


def _split_batches(batches: Sequence[Any], share: float, most: int, seed: int) -> Split | None:
    sizes = torch.tensor([len(as_pair_batch(batch)) for batch in batches], dtype=torch.long)
    aside = groups_aside(sizes, share, most, 1, seed)
    if aside is None:
        return None
    return Split([batches[i] for i in others(len(batches), aside)], [batches[i] for i in aside])


def _split_rows(loader: DataLoader[Any], share: float, most: int, seed: int) -> Split | None:
    rows: int = len(loader.dataset)  # type: ignore[arg-type]
    batch = loader.batch_sampler
    assert isinstance(batch, BatchSampler)
    sampler: Any = loader.sampler
    processes = sampler.num_replicas if isinstance(sampler, DistributedSampler) else 1
    aside = rows_aside(rows, share, most, batch.batch_size * processes, seed)
    if aside is None:
        return None
    options = {
        name: getattr(loader, name)
        for name in (
            "num_workers",
            "collate_fn",
            "pin_memory",
            "timeout",
            "worker_init_fn",
            "multiprocessing_context",
            "generator",
            "prefetch_factor",
            "persistent_workers",
        )
    }
    kept = BatchSampler(_without(sampler, rows, aside), batch.batch_size, batch.drop_last)
    return Split(
        DataLoader(loader.dataset, batch_sampler=kept, **options),
        DataLoader(
            loader.dataset,
            batch_sampler=[part.tolist() for part in torch.split(aside, batch.batch_size)],
            collate_fn=loader.collate_fn,
        ),
    )


def _without(sampler: Any, rows: int, aside: Tensor) -> Sampler[int]:
    """Deal out the rows of a sampler but for some."""
    if not isinstance(sampler, DistributedSampler):
        return _Skipping(sampler, frozenset(aside.tolist()))
    # Skipping would leave some processes with fewer batches than others: shared out anew.
    left = others(rows, aside)
    shared: DistributedSampler[int] = DistributedSampler(
        left,  # type: ignore[arg-type]
        sampler.num_replicas,
        sampler.rank,
        sampler.shuffle,
        sampler.seed,
        sampler.drop_last,
    )
    shared.set_epoch(sampler.epoch)
    return _Renamed(shared, left)


class _Skipping(Sampler[int]):
    def __init__(self, sampler: Sampler[int], skipped: frozenset[int]) -> None:
        self.sampler, self.skipped = sampler, skipped

    def __iter__(self) -> Iterator[int]:
        return (row for row in self.sampler if row not in self.skipped)


class _Renamed(Sampler[int]):
    def __init__(self, sampler: Sampler[int], names: Tensor) -> None:
        self.sampler, self.names = sampler, names

    def __iter__(self) -> Iterator[int]:
        return (int(self.names[place]) for place in self.sampler)
