"""Batches of rows that look alike: hard negatives, without looking for them in every step."""

from __future__ import annotations

import torch
from torch import Tensor

from aninfonce._seeds import stream
from aninfonce._validation import check_count, check_matrix
from aninfonce.sources.epoch_order import EpochOrder


class NeighbourOrder(EpochOrder):
    """Deals out a random row with its nearest neighbours, and random rows in every third batch.

    Random rows can be told apart by whatever is easy to see. Once the easy factors are learned, the loss of
    such a batch is low and leaves no gradient for the others. Neighbours share the easy factors, so only the
    others tell them apart. The batches of random rows in between keep the embedding in order at large.

    Example:
        >>> order = NeighbourOrder(torch.arange(100.0)[:, None], seed=0)
        >>> rows = order.next(5)
        >>> (rows.max() - rows.min()).item()
        4

    Args:
        features: (N, d), in which rows are compared; coarse pixels will do for pictures.
        seed: of the orders.
        every: one batch out of so many has random rows; 1 for all batches.
        what: noun for the rows in error messages, such as "pairs".

    References:
        Robinson et al., Can contrastive learning avoid shortcut solutions?, NeurIPS 2021, on factors that
        are not learned because easier ones suffice.

    """

    def __init__(self, features: Tensor, seed: int, *, every: int = 3, what: str = "rows") -> None:
        self.features = check_matrix(features, "features")
        super().__init__(len(features), seed, what)
        self.every = check_count(every, "every")
        self._near = self.features
        self._middles = stream(seed, "pairs", "neighbours")
        self._taken = 0

    def keep(self, rows: Tensor) -> None:
        """Deal out only these rows."""
        super().keep(rows)
        self._near = self.features[rows]

    def next(self, n: int) -> Tensor:
        """Take `n` neighbours of a random row or, when it is their turn, the next `n` random rows, (n,)."""
        self._check(n)
        self._taken += 1
        if self._taken % self.every == 0:
            return super().next(n)
        middle = torch.randint(self.rows, (1,), generator=self._middles)
        apart = (self._near - self._near[middle]).square().sum(dim=1)
        near = apart.topk(n, largest=False).indices.sort().values
        # Some losses take the next row of a batch as a negative: they must not come sorted by distance.
        return self._kept[near[torch.randperm(n, generator=self._middles)]]

    def state(self) -> dict[str, Tensor]:
        """States of both generators, and the positions in the epoch and among the batches."""
        middles = {"middles": self._middles.get_state(), "taken": torch.tensor(self._taken)}
        return {**super().state(), **middles}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go back to where a state was taken."""
        super().restore(state)
        self._middles.set_state(state["middles"])
        self._taken = int(state["taken"])
