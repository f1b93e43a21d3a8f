"""Candidates from all processes, with gradients that return to where they came from."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

_warned = False
_ALONE: ContextVar[bool] = ContextVar("alone", default=False)


class Shard(NamedTuple):
    """Which rows of the whole batch this process holds."""

    sizes: tuple[int, ...]
    rank: int

    @property
    def processes(self) -> int:
        """Number of processes."""
        return len(self.sizes)

    @property
    def start(self) -> int:
        """Index of the first own row in the whole batch."""
        return sum(self.sizes[: self.rank])

    @property
    def total(self) -> int:
        """Rows of the whole batch."""
        return sum(self.sizes)


@contextmanager
def alone() -> Iterator[None]:
    """Compute losses in this block as if this were the only process, whatever their settings.

    For work that every process does on the same rows, such as a fit or a score on held-out pairs: if rows
    were gathered, each would meet its own copies as negatives.
    """
    token = _ALONE.set(True)
    try:
        yield
    finally:
        _ALONE.reset(token)


def world_size() -> int:
    """Count the processes of the default group; 1 outside of `torch.distributed`."""
    # In this order: `torch.compile` can follow the first check, but would break its graph at the second.
    if not (dist.is_available() and dist.is_initialized()):
        return 1
    return 1 if _ALONE.get() else dist.get_world_size()


def find_shard(rows: int, device: torch.device, gather_distributed: bool) -> Shard:
    """Learn how many rows each process holds; batches may be uneven."""
    if world_size() == 1:
        return Shard((rows,), 0)
    if not gather_distributed:
        _warn_once()
        return Shard((rows,), 0)
    mine = torch.tensor([rows], device=device)
    sizes = [torch.empty_like(mine) for _ in range(world_size())]
    dist.all_gather(sizes, mine)
    return Shard(tuple(int(size) for size in sizes), dist.get_rank())


def gather_rows(rows: Tensor, shard: Shard) -> Tensor:
    """Rows of all processes, (n, d) to (N, d); the gradient of each row comes from every process."""
    if shard.processes == 1:
        return rows
    gathered: Tensor = _GatherRows.apply(rows, shard)  # type: ignore[no-untyped-call]
    return gathered


def global_value(local: Tensor, shard: Shard) -> Tensor:
    """Replace the value by its mean over the processes; the gradient stays the local one."""
    if shard.processes == 1:
        return local
    mean = local.detach().clone()
    dist.all_reduce(mean)
    return local + (mean / shard.processes - local.detach())


class _GatherRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, shard: Shard) -> Tensor:
        ctx.shard = shard
        # Collectives need equal shapes: pad to the largest, then cut.
        padded = rows.new_zeros(max(shard.sizes), *rows.shape[1:])
        padded[: len(rows)] = rows
        parts = [torch.empty_like(padded) for _ in shard.sizes]
        dist.all_gather(parts, padded)
        return torch.cat([part[:size] for part, size in zip(parts, shard.sizes, strict=True)])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor, None]:
        total = grads[0].contiguous().clone()
        dist.all_reduce(total)
        start = ctx.shard.start
        return total[start : start + ctx.shard.sizes[ctx.shard.rank]], None


def _warn_once() -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"{world_size()} processes train, each with the negatives of its own batch only; pass"
            " `gather_distributed=True` to use those of all",
            stacklevel=2,
        )
