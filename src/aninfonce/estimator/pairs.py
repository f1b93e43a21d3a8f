"""From what a user has (paired rows, a time series, an augmentation) to pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.validation import check_array
from torch import Generator

from aninfonce._validation import check_count, describe
from aninfonce.processes import PairBatch
from aninfonce.training.source import ArraySource, PairSource, State

Array = npt.NDArray[Any]
Augment = Callable[[Array], Any]


@dataclass(frozen=True)
class Pairs:
    """Observations in pairs.

    Attributes:
        x: anchors (N, D).
        x_pos: positives (N, D).
        clusters: (N,) pairs that depend on each other have the same number; None if all are independent.
        lag: rows from an anchor to its positive, of a recording.
        augment: draws new positives for the anchors, if that is where they come from.

    """

    x: Array
    x_pos: Array
    clusters: npt.NDArray[np.intp] | None = None
    lag: int | None = None
    augment: Augment | None = None

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: npt.NDArray[np.intp]) -> Pairs:
        """Take some of the pairs."""
        clusters = None if self.clusters is None else self.clusters[rows]
        return replace(self, x=self.x[rows], x_pos=self.x_pos[rows], clusters=clusters)

    def hold_out(self, share: float, seed: int) -> tuple[Pairs, Pairs]:
        """Split into pairs to train on and pairs to look at; of a series the last part is held out."""
        held = int(share * len(self))
        rows = np.arange(len(self))
        if self.clusters is None:
            rows = np.random.default_rng(seed).permutation(rows)
        return self.take(np.sort(rows[: len(rows) - held])), self.take(np.sort(rows[len(rows) - held :]))

    def source(self, seed: int) -> PairSource:
        """Give the pairs as training takes them, in float32."""
        if self.augment is None:
            return ArraySource(PairBatch(_tensor(self.x), _tensor(self.x_pos)), seed)
        return AugmentSource(self.x, self.augment, seed)


def make_pairs(X: Array, y: Any, X_pos: Any, lag: int | None, groups: Any, augment: Augment | None) -> Pairs:
    """Make pairs in the way that was given; see `ContrastiveICA.fit` for the arguments."""
    if X_pos is None and holds_rows(y):
        X_pos = y
    ways = {"X_pos": X_pos, "lag": lag, "augment": augment}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"give one of X_pos (or a 2-d y), lag and augment, got {' and '.join(given)}")
    if groups is not None and given not in ([], ["lag"]):
        raise ValueError(f"`groups` go with a recording, fit(X, lag=...), got them with {given[0]}")
    if X_pos is not None:
        X_pos = check_array(X_pos, dtype=[np.float64, np.float32], input_name="X_pos")
        if X_pos.shape != X.shape:
            raise ValueError(f"`X_pos` must have the shape of X, {X.shape}, got {describe(X_pos)}")
        return Pairs(X, X_pos)
    return augmented(X, augment) if augment is not None else lagged(X, 1 if lag is None else lag, groups)


def holds_rows(y: Any) -> bool:
    """Whether `y` is meant as positives; labels and other targets are 1-d."""
    return y is not None and np.asarray(y).ndim != 1


def lagged(X: Array, lag: int, groups: Any = None) -> Pairs:
    """Pair each row with the one `lag` rows later in its group.

    Example:
        >>> pairs = lagged(np.arange(6.0)[:, None], 1, groups=[0, 0, 0, 1, 1, 1])
        >>> pairs.x.ravel(), pairs.x_pos.ravel()
        (array([0., 1., 3., 4.]), array([1., 2., 4., 5.]))

    Args:
        X: rows in the order of time, (N, D).
        lag: rows from an anchor to its positive.
        groups: (N,) labels of the recordings; no pair goes from one to another.

    Returns:
        The pairs; neighbours in time share a cluster of about the cube root of their number.

    """
    check_count(lag, "lag")
    labels = np.zeros(len(X), dtype=np.intp) if groups is None else np.asarray(groups)
    if labels.shape != (len(X),):
        raise ValueError(f"`groups` must have shape ({len(X)},), one label a row of X, got {labels.shape}")
    members = [rows for rows in _by_label(labels) if len(rows) > lag]
    count = sum(len(rows) - lag for rows in members)
    if count < 2:
        raise ValueError(
            f"`X` must give at least 2 pairs of rows that are {lag} apart, got n_samples={len(X)}"
            f" in {len(np.unique(labels))} group(s)"
        )
    run = max(lag, round(count ** (1 / 3)))
    clusters, first = [], 0
    for rows in members:
        clusters.append(first + np.arange(len(rows) - lag) // run)
        first = int(clusters[-1][-1]) + 1
    anchors = np.concatenate([rows[:-lag] for rows in members])
    positives = np.concatenate([rows[lag:] for rows in members])
    return Pairs(X[anchors], X[positives], np.concatenate(clusters), lag)


def augmented(X: Array, augment: Augment) -> Pairs:
    """Pair each row with a random change of it, drawn anew whenever the row is used."""
    return Pairs(X, apply_augment(X, augment), augment=augment)


def apply_augment(X: Array, augment: Augment) -> Array:
    """Call an augmentation on rows (n, D) and check what comes back."""
    changed = np.asarray(augment(X))
    if changed.shape != X.shape or not np.isfinite(changed).all():
        raise ValueError(
            f"`augment` must give finite numbers of the shape that it got, {X.shape}, got {describe(changed)}"
        )
    return changed


class AugmentSource(PairSource):
    """Pairs of a row and a fresh change of it, in a new order each epoch.

    Args:
        X: rows (N, D).
        augment: from (n, D) to (n, D).
        seed: of the orders; the augmentation's random numbers are its own.

    """

    def __init__(self, X: Array, augment: Augment, seed: int) -> None:
        self._rows, self._augment = X, augment
        index = torch.arange(len(X))[:, None]
        self._order = ArraySource(PairBatch(index, index), seed)
        self.largest_batch = len(X)

    def _pairs(self, drawn: PairBatch) -> PairBatch:
        x = self._rows[drawn.x[:, 0].numpy()]
        return PairBatch(_tensor(x), _tensor(apply_augment(x, self._augment)))

    def next(self, n: int) -> PairBatch:
        """Take the next `n` rows with a change of each."""
        return self._pairs(self._order.next(n))

    def fresh(self, n: int) -> PairBatch:
        """Take up to `n` rows at random with a change of each."""
        return self._pairs(self._order.fresh(n))

    def state(self) -> State:
        """Position in the epoch."""
        return self._order.state()

    def restore(self, state: State) -> None:
        """Go back to a position."""
        self._order.restore(state)


def shuffled(pairs: Pairs, seed: int) -> Pairs:
    """Break the pairs: every anchor gets the positive of another one."""
    order = torch.randperm(len(pairs), generator=Generator().manual_seed(seed)).numpy()
    # Along a random cycle, so that no row keeps its own.
    partner = np.empty_like(order)
    partner[order] = np.roll(order, 1)
    return Pairs(pairs.x, pairs.x_pos[partner])


def _by_label(labels: Array) -> list[npt.NDArray[np.intp]]:
    """List the rows of each label, in the order of their first rows."""
    _, first, member = np.unique(labels, return_index=True, return_inverse=True)
    rows = np.split(np.argsort(member, kind="stable"), np.cumsum(np.bincount(member))[:-1])
    return [rows[index] for index in np.argsort(first)]


def _tensor(x: Array) -> torch.Tensor:
    return torch.from_numpy(np.array(x, dtype=np.float32))
