"""Rows of a data set in batches, in a new order each epoch, resumable."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from aninfonce._seeds import stream
from aninfonce._validation import check_count


class EpochOrder:
    """Deals the rows of a data set out in batches; an incomplete last batch of an epoch is dropped.

    Example:
        >>> order = EpochOrder(6, seed=0)
        >>> sorted(order.next(3).tolist() + order.next(3).tolist())
        [0, 1, 2, 3, 4, 5]

    Args:
        rows: how many there are.
        seed: of the orders.
        what: noun for the rows in error messages, such as "pairs".

    """

    def __init__(self, rows: int, seed: int, what: str = "rows") -> None:
        self.rows = rows
        self.what = what
        self._kept = torch.arange(rows)
        self._stream = stream(seed, "pairs", "order")
        self._start_epoch()

    def _start_epoch(self) -> None:
        self._before = self._stream.get_state()
        self._order = torch.randperm(self.rows, generator=self._stream)
        self._position = 0

    def next(self, n: int) -> Tensor:
        """Take the next `n` rows, (n,), from a new epoch if too few are left in this one."""
        self._check(n)
        if self._position + n > self.rows:
            self._start_epoch()
        taken = self._order[self._position : self._position + n]
        self._position += n
        return self._kept[taken]

    def random(self, n: int, generator: Generator) -> Tensor:
        """Draw `n` of the rows, or all there are, without moving the order, (n,)."""
        return self._kept[torch.randperm(self.rows, generator=generator)[:n]]

    def keep(self, rows: Tensor) -> None:
        """Deal out only these rows, from the start of this epoch on."""
        if torch.equal(rows, self._kept):
            return
        self._kept, self.rows = rows, len(rows)
        self._stream.set_state(self._before)
        self._start_epoch()

    def _check(self, n: int) -> None:
        if check_count(n, "n") > self.rows:
            raise ValueError(f"`n` must be at most the number of {self.what}, {self.rows}, got {n}")

    def state(self) -> dict[str, Tensor]:
        """State of the generator when this epoch began, and the position in the epoch."""
        return {"order": self._before, "position": torch.tensor(self._position)}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Repeat the order of the state's epoch and go to its position in it."""
        self._stream.set_state(state["order"])
        self._start_epoch()
        self._position = int(state["position"])
