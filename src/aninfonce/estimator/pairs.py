"""From what a user has (paired rows, a time series, an augmentation) to pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.validation import check_array

from aninfonce._seeds import derive_seed, stream
from aninfonce._validation import check_count, describe
from aninfonce.processes import PairBatch
from aninfonce.training.source import ArraySource, PairSource, State

Array = npt.NDArray[Any]
Augment = Callable[[Array], Any]

# Lags from a pair of a recording to the next that may be its negative: at 4, intervals of Λ̂ cover as they
# should (benchmarks/coverage.py); at 1, rows are negatives of their own pairs.
_LAGS_APART = 4
# Recordings to be held out for that to be done whole; of fewer, the end of each is.
_FEWEST_WHOLE = 3


@dataclass(frozen=True)
class Pairs:
    """Observations in pairs.

    Attributes:
        x: anchors (N, D).
        x_pos: positives (N, D).
        recording: (N,) ascending numbers of the recordings that pairs come from, in the order of time within
            each; None if pairs have no order.
        lag: rows from an anchor to its positive, of a recording.
        augment: draws new positives for the anchors, if that is where they come from.
        apart: pairs from one to the next that may be its negative; 1 if pairs have no order.

    """

    x: Array
    x_pos: Array
    recording: npt.NDArray[np.intp] | None = None
    lag: int | None = None
    augment: Augment | None = None
    apart: int = 1

    def __len__(self) -> int:
        return len(self.x)

    @property
    def given(self) -> bool:
        """Whether the user brought both sides of the pairs."""
        return self.lag is None and self.augment is None

    @property
    def clusters(self) -> npt.NDArray[np.intp] | None:
        """Number (N,) of the stretch of time that a pair is in; None if all pairs are independent.

        Stretches as long as there are stretches: both grow with the recording, so that in the end neighbours
        of different ones no longer matter.
        """
        if self.recording is None:
            return None
        n = len(self)
        run = max(1, min(max(self.lag or 1, round(n**0.5)), n // 2))
        first = np.searchsorted(self.recording, self.recording)
        stretch = (np.arange(n) - first) // run
        numbers = np.unique(np.stack([self.recording, stretch]), axis=1, return_inverse=True)[1]
        return numbers.reshape(n).astype(np.intp)

    def take(self, rows: npt.NDArray[np.intp]) -> Pairs:
        """Take some of the pairs."""
        recording = None if self.recording is None else self.recording[rows]
        return replace(self, x=self.x[rows], x_pos=self.x_pos[rows], recording=recording)

    def some(self, most: int, seed: int) -> Pairs:
        """Take `most` of the pairs at random, in their order, or all if there are no more."""
        if len(self) <= most:
            return self
        rows = np.random.default_rng(derive_seed(seed, "some")).permutation(len(self))[:most]
        # As far apart in time as before, though fewer pairs lie between.
        return replace(self.take(np.sort(rows)), apart=max(1, -(-self.apart * most // len(self))))

    def hold_out(self, share: float, seed: int) -> tuple[Pairs, Pairs]:
        """Split into pairs to train on and pairs to look at.

        Of many recordings some are held out whole, of a few the end of each: neighbours in time are too much
        alike to be on both sides.
        """
        rng = np.random.default_rng(derive_seed(seed, "validation"))
        held = int(share * len(self))
        if self.recording is None:
            chosen = np.zeros(len(self), dtype=bool)
            chosen[rng.permutation(len(self))[:held]] = True
        else:
            chosen = _later(self.recording, share, rng)
        return self.take(np.flatnonzero(~chosen)), self.take(np.flatnonzero(chosen))

    def batch(self, centre: Array | None = None) -> PairBatch:
        """Give the pairs in float32, less a constant (D,) that would take the place of their digits."""
        return PairBatch(_tensor(self.x, centre), _tensor(self.x_pos, centre))

    def source(self, seed: int, centre: Array | None = None) -> PairSource:
        """Give the pairs as training takes them; see `batch`."""
        if self.augment is None:
            return ArraySource(self.batch(centre), seed)
        return AugmentSource(self.x, self.augment, seed, centre)


def _later(recording: npt.NDArray[np.intp], share: float, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Choose whole recordings at random if there are many, the end of each otherwise, (N,)."""
    _, numbers, sizes = np.unique(recording, return_inverse=True, return_counts=True)
    if share * len(sizes) >= _FEWEST_WHOLE:
        order = rng.permutation(len(sizes))
        whole = np.zeros(len(sizes), dtype=bool)
        whole[order] = np.cumsum(sizes[order]) <= share * len(recording)
        # Unless one of them is so long that hardly any is left to hold out.
        if whole[numbers].sum() >= 0.5 * share * len(recording):
            return whole[numbers]
    ends = np.cumsum(sizes)
    # Differences of rounded sums: as many in all as of one recording of this length.
    held = np.diff((share * ends).astype(np.intp), prepend=0)
    return np.arange(len(recording)) >= (ends - held)[numbers]


def make_pairs(X: Array, y: Any, X_pos: Any, lag: int | None, groups: Any, augment: Augment | None) -> Pairs:
    """Make pairs in the way that was given; see `ContrastiveICA.fit` for the arguments."""
    if X_pos is None and holds_rows(y):
        X_pos = y
    if augment is not None and not callable(augment):
        raise ValueError(f"`augment` must be a function from rows (n, D) to rows, got {describe(augment)}")
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
        The pairs, one recording after another.

    """
    lag = check_count(lag, "lag")
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
    anchors = np.concatenate([rows[:-lag] for rows in members])
    positives = np.concatenate([rows[lag:] for rows in members])
    recording = np.repeat(np.arange(len(members)), [len(rows) - lag for rows in members])
    return Pairs(X[anchors], X[positives], recording, lag, apart=_LAGS_APART * lag)


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
        centre: constant (D,) that is taken off the rows and their changes.

    """

    def __init__(self, X: Array, augment: Augment, seed: int, centre: Array | None = None) -> None:
        self._rows, self._augment, self._centre = X, augment, centre
        index = torch.arange(len(X))[:, None]
        self._order = ArraySource(PairBatch(index, index), seed)
        self.largest_batch = len(X)

    def _pairs(self, drawn: PairBatch) -> PairBatch:
        x = self._rows[drawn.x[:, 0].numpy()]
        return Pairs(x, apply_augment(x, self._augment)).batch(self._centre)

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
    order = torch.randperm(len(pairs), generator=stream(seed, "broken pairs")).numpy()
    # Along a random cycle, so that no row keeps its own.
    partner = np.empty_like(order)
    partner[order] = np.roll(order, 1)
    return Pairs(pairs.x, pairs.x_pos[partner])


def _by_label(labels: Array) -> list[npt.NDArray[np.intp]]:
    """List the rows of each label, in the order of their first rows."""
    _, first, member = np.unique(labels, return_index=True, return_inverse=True)
    rows = np.split(np.argsort(member, kind="stable"), np.cumsum(np.bincount(member))[:-1])
    return [rows[index] for index in np.argsort(first)]


def _tensor(x: Array, centre: Array | None, chunk: int = 65_536) -> torch.Tensor:
    """Put rows in float32, less a constant, without a copy of all of them in float64."""
    if centre is None:
        return torch.from_numpy(np.array(x, dtype=np.float32))
    rows = np.empty(x.shape, dtype=np.float32)
    for i in range(0, len(x), chunk):
        rows[i : i + chunk] = x[i : i + chunk] - centre
    return torch.from_numpy(rows)
