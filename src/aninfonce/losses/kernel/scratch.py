"""Memory for what does not outlive a pass, and numbers as tensors, reused from call to call.

The system provides fresh memory page by page, and each page costs an interrupt: writing a matrix of a
thousand rows to it takes longer than computing its exponentials, and multiplying a batch of embeddings by a
number takes far longer than in place. So on a CPU each thread keeps a few megabytes for matrices and
a few for rows of embeddings. The allocator of a GPU does so by itself.

A number that multiplies a tensor is turned into a tensor on every call: for small tensors that takes longer
than the product.
"""

from __future__ import annotations

import math
import threading
from functools import lru_cache
from typing import Literal

import torch
from torch import Tensor

Kind = Literal["matrices", "rows"]

# Most bytes that a thread keeps of either kind.
_MOST = 2**23
# Numbers up to which fresh memory is as quick.
FRESH = 2**16


class _Kept(threading.local):
    def __init__(self) -> None:  # of each thread
        self.memory: dict[Kind, Tensor] = {}
        self.squares: tuple[Tensor, ...] = ()


_KEPT = _Kept()


class Scratch:
    """Pieces of memory for one pass; all are free again when the next pass of the same kind begins.

    Args:
        like: A tensor with the device and precision of the pieces.
        entries: How many will be asked for in all; pieces that do not fit are fresh.
        kind: What they are for: a pass over a matrix may begin while rows are still in use.

    """

    def __init__(self, like: Tensor, entries: int, kind: Kind = "matrices") -> None:
        self.like, self.used = like, 0
        self.memory: Tensor | None = None
        # A tensor of another class may have no memory of its own.
        if entries > FRESH and type(like) is Tensor and like.device.type == "cpu":
            self.memory = _at_least(min(entries * like.element_size(), _MOST), kind).view(like.dtype)

    def take(self, *shape: int) -> Tensor:
        """Give a contiguous tensor with arbitrary values."""
        if self.memory is None:
            return self.like.new_empty(shape)
        entries, start = math.prod(shape), self.used
        if start + entries > self.memory.shape[0]:
            return self.like.new_empty(shape)
        # Whole cache lines, so that no two pieces share one.
        self.used += -(-entries // 16) * 16
        return self.memory[start : start + entries].view(shape)


def _at_least(size: int, kind: Kind) -> Tensor:
    """Give the memory that this thread keeps, grown to at least so many bytes."""
    memory = _KEPT.memory.get(kind)
    if memory is None or memory.shape[0] < size:
        # Not a tensor of inference mode: it will be written to outside of it.
        with torch.inference_mode(False):
            memory = _KEPT.memory[kind] = torch.empty(-(-size // 4096) * 4096, dtype=torch.uint8)
    return memory


def squares(like: Tensor, side: int) -> tuple[Tensor, ...]:
    """Give two (side, side) tensors with arbitrary values, the same ones until another side is asked for.

    For small matrices, where even cutting pieces from memory takes longer than filling them.
    """
    if type(like) is not Tensor or like.device.type != "cpu":
        return like.new_empty(side, side), like.new_empty(side, side)
    if 2 * side * side * like.element_size() > _MOST // 2:
        scratch = Scratch(like, 2 * side * side)
        return scratch.take(side, side), scratch.take(side, side)
    kept = _KEPT.squares
    if not kept or kept[0].shape[0] != side or kept[0].dtype is not like.dtype:
        with torch.inference_mode(False):
            kept = tuple(torch.empty(side, side, dtype=like.dtype) for _ in range(2))
        _KEPT.squares = kept
    return kept


def number(value: float, like: Tensor) -> Tensor | float:
    """Give a number as a () tensor with the device and precision of another; do not write to it."""
    # A tensor of another class may belong to a mode that has ended.
    return _number(value, like.dtype, like.device) if type(like) is Tensor else value


@lru_cache(maxsize=256)
def _number(value: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    with torch.inference_mode(False):
        return torch.full((), value, dtype=dtype, device=device)
