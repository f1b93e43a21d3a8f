"""From what a user has (paired rows, a recording, an augmentation) to pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.validation import check_array
from torch import Tensor

from aninfonce._seeds import derive_seed, stream
from aninfonce._validation import check_count, describe
from aninfonce.encoders.embedding import Embedding
from aninfonce.estimator.frames import Array, Frames, Index, check_ranges, embed_rows, without_mask
from aninfonce.processes import PairBatch

Augment = Callable[[Array], Any]

# Lags from a pair of a recording to the next that may be its negative: at 4, intervals of Λ̂ cover as they
# should (benchmarks/coverage.py); at 1, rows are negatives of their own pairs.
_LAGS_APART = 4
# Whole sessions are held out if that makes at least so many of them, and the end of each otherwise.
_FEWEST_WHOLE = 3


@dataclass(frozen=True)
class Pairs:
    """Observations in pairs of one kind.

    Attributes:
        frames: the rows that anchors are taken from.
        anchors: (N,) their numbers.
        positives: (N,) numbers of the rows of `partners` that belong to them.
        partners: the rows that positives are taken from; of a recording, `frames` themselves.
        lag: of a recording, rows from an anchor to its positive.
        augment: draws new positives for the anchors, if that is where they come from.
        apart: how many pairs away the nearest negative of a pair may be; 1 if pairs have no order.

    """

    frames: Frames
    anchors: Index
    positives: Index
    partners: Frames
    lag: int | None = None
    augment: Augment | None = None
    apart: int = 1

    def __len__(self) -> int:
        return len(self.anchors)

    @property
    def x(self) -> Array:
        """Anchors (N, ...), as the encoder is shown them."""
        return self.frames[self.anchors]

    @property
    def x_pos(self) -> Array:
        """Positives (N, ...)."""
        return self.partners[self.positives]

    @property
    def given(self) -> bool:
        """Whether the user gave both sides of the pairs."""
        return self.lag is None and self.augment is None

    @property
    def recording(self) -> Index | None:
        """Ascending numbers (N,) of the sessions, within which pairs are in the order of time."""
        return None if self.lag is None else self.frames.session[self.anchors]

    @property
    def clusters(self) -> Index | None:
        """Number (N,) of the stretch of time that a pair is in; None if all pairs are independent.

        A stretch has about as many pairs as there are stretches: both numbers grow with the recording, so
        that pairs near the border of two stretches matter less and less.
        """
        recording = self.recording
        if recording is None:
            return None
        n = len(self)
        run = max(1, min(max(self.lag or 1, round(n**0.5)), n // 2))
        first = np.searchsorted(recording, recording)
        stretch = (np.arange(n) - first) // run
        numbers = np.unique(np.stack([recording, stretch]), axis=1, return_inverse=True)[1]
        return numbers.reshape(n).astype(np.intp)

    def take(self, which: Index | npt.NDArray[np.bool_]) -> Pairs:
        """Take some of the pairs."""
        return replace(self, anchors=self.anchors[which], positives=self.positives[which])

    def some(self, most: int, seed: int) -> Pairs:
        """Take `most` of the pairs at random, in their order, or all if there are no more."""
        if len(self) <= most:
            return self
        rows = np.random.default_rng(derive_seed(seed, "some")).permutation(len(self))[:most]
        # As far apart in time as before, though fewer pairs lie between.
        return replace(self.take(np.sort(rows)), apart=max(1, -(-self.apart * most // len(self))))

    def hold_out(self, share: float, seed: int) -> tuple[Pairs, Pairs]:
        """Split into pairs to train on and pairs to look at.

        With many sessions some are held out whole, with a few the end of each: neighbours in time are too
        much alike to be on both sides. A pair that reaches from one side to the other is on neither.
        """
        rng = np.random.default_rng(derive_seed(seed, "validation"))
        if self.lag is None:
            held = np.zeros(len(self), dtype=bool)
            held[rng.permutation(len(self))[: int(share * len(self))]] = True
            return self.take(~held), self.take(held)
        later = later_rows(self.frames.session, share, rng)
        before, after = later[self.anchors], later[self.positives]
        return self.take(~before & ~after), self.take(before & after)

    def batch(self, centre: Array | None = None) -> PairBatch:
        """Give the pairs in float32, less a constant that would cost them digits."""
        return PairBatch(in_float32(self.x, centre), in_float32(self.x_pos, centre))

    def embedded(self, encoder: Embedding) -> tuple[Tensor, Tensor]:
        """Embed anchors and positives, (N, d) each."""
        return embed_rows(encoder, self.x), embed_rows(encoder, self.x_pos)


def later_rows(session: Index, share: float, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Choose whole sessions at random if there are many, the end of each otherwise.

    Example:
        >>> later_rows(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 0.25, np.random.default_rng(0)).nonzero()[0]
        array([3, 7])

    Args:
        session: (N,) ascending numbers.
        share: of the rows to hold out.
        rng: chooses sessions.

    Returns:
        Whether a row is held out, (N,).

    """
    _, numbers, sizes = np.unique(session, return_inverse=True, return_counts=True)
    if share * len(sizes) >= _FEWEST_WHOLE:
        order = rng.permutation(len(sizes))
        whole = np.zeros(len(sizes), dtype=bool)
        whole[order] = np.cumsum(sizes[order]) <= share * len(session)
        # Unless one of them is so long that hardly any is left to hold out.
        if whole[numbers].sum() >= 0.5 * share * len(session):
            return whole[numbers]
    ends = np.cumsum(sizes)
    # Differences of rounded sums: as many in all as of one session of this length.
    held = np.diff((share * ends).astype(np.intp), prepend=0)
    return np.arange(len(session)) >= (ends - held)[numbers]


def make_pairs(
    frames: Frames, y: Any, X_pos: Any, lags: Sequence[int], augment: Augment | None
) -> tuple[Pairs, ...]:
    """Make pairs from what `ContrastiveICA.fit` was given: of a recording one kind per lag, else one kind."""
    if X_pos is None and holds_rows(y):
        X_pos = y
    if augment is not None and not callable(augment):
        raise ValueError(f"`augment` must be a function from rows (n, D) to rows, got {describe(augment)}")
    if X_pos is not None and augment is not None:
        raise ValueError("give one of X_pos (or a 2-d y) and augment, got both")
    if X_pos is None and augment is None:
        return tuple(lagged(frames, lag) for lag in lags)
    way = "augment" if X_pos is None else "X_pos"
    if frames.window > 1:
        raise ValueError(f"`window` must be 1 where rows are in no order, got {frames.window} with {way}")
    if frames.gap is not None:
        raise ValueError(f"gaps='skip' is for recordings, got NaN in X with {way}")
    if frames.session[-1] > 0:
        raise ValueError(f"sessions (`groups`, or a list) go with a recording, fit(X), got them with {way}")
    if augment is not None:
        return (augmented(frames, augment),)
    X_pos = check_array(
        without_mask(X_pos), dtype=[np.float64, np.float32], input_name="X_pos", allow_nd=True
    )
    if X_pos.shape != frames.rows.shape:
        raise ValueError(f"`X_pos` must have the shape of X, {frames.rows.shape}, got {describe(X_pos)}")
    check_ranges(X_pos, "X_pos")
    return (paired(frames, X_pos),)


def holds_rows(y: Any) -> bool:
    """Whether `y` is meant as positives; labels and other targets are 1-d."""
    return y is not None and np.asarray(y).ndim != 1


def paired(frames: Frames, X_pos: Array) -> Pairs:
    """Pair each row with the one in the same place."""
    index = np.arange(len(frames))
    return Pairs(frames, index, index, Frames(X_pos, frames.session))


def lagged(frames: Frames, lag: int) -> Pairs:
    """Pair each row with the one `lag` rows later in its session.

    Example:
        >>> frames = Frames(np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1]))
        >>> pairs = lagged(frames, 1)
        >>> pairs.x.ravel(), pairs.x_pos.ravel()
        (array([0., 1., 3., 4.]), array([1., 2., 4., 5.]))

    Args:
        frames: rows in the order of time.
        lag: rows from an anchor to its positive.

    Returns:
        The pairs, one session after another; none has a gap at either end.

    """
    lag = check_count(lag, "lag")
    lengths = np.bincount(frames.session)
    short = np.flatnonzero(lengths <= lag)
    if len(short):
        which = f"session {short[0]}" if len(lengths) > 1 else "X"
        raise ValueError(
            f"`lag` must be shorter than every session, got {lag} and {which} with"
            f" n_samples={lengths[short[0]]}: leave it out, or use a shorter lag"
        )
    anchors = anchors_at(frames, lag)
    if len(anchors) < 2:
        gaps = "" if frames.gap is None else f", {int(frames.gap.sum())} of them with NaN"
        raise ValueError(
            f"`X` must give at least 2 pairs of rows that are {lag} apart, got {len(anchors)} from"
            f" n_samples={len(frames)} in {len(lengths)} session(s){gaps}"
        )
    return Pairs(frames, anchors, anchors + lag, frames, lag, apart=_LAGS_APART * lag)


def anchors_at(frames: Frames, lag: int) -> Index:
    """List the rows that have another one `lag` rows later in their session, with no gap at either end."""
    usable, session = frames.usable, frames.session
    both = usable[:-lag] & usable[lag:] & (session[:-lag] == session[lag:])
    return np.flatnonzero(both)


def augmented(frames: Frames, augment: Augment) -> Pairs:
    """Pair each row with a random change of it, drawn anew whenever the row is used."""
    return replace(paired(frames, apply_augment(frames.rows, augment)), augment=augment)


def apply_augment(X: Array, augment: Augment) -> Array:
    """Call an augmentation on rows (n, ...) and check what comes back."""
    # A copy: one that works in place would change the anchors, and the user's own rows.
    changed = np.asarray(augment(np.array(X)))
    if changed.shape != X.shape or changed.dtype.kind not in "fiub" or not np.isfinite(changed).all():
        raise ValueError(
            f"`augment` must give finite numbers of the shape that it got, {X.shape}, got"
            f" {describe(changed)} and type {changed.dtype}"
        )
    return changed


def shuffled(pairs: Pairs, seed: int) -> Pairs:
    """Break the pairs: every anchor gets the positive of another one."""
    order = torch.randperm(len(pairs), generator=stream(seed, "broken pairs")).numpy()
    # Along a random cycle, so that no row keeps its own.
    partner = np.empty_like(order)
    partner[order] = np.roll(order, 1)
    return replace(pairs, positives=pairs.positives[partner], lag=None, augment=None, apart=1)


def in_float32(x: Array, centre: Array | None, chunk: int = 65_536) -> Tensor:
    """Convert rows to float32, less a constant, without a copy of all of them in float64."""
    if centre is None:
        return torch.from_numpy(np.array(x, dtype=np.float32))
    rows = np.empty(x.shape, dtype=np.float32)
    for i in range(0, len(x), chunk):
        rows[i : i + chunk] = x[i : i + chunk] - centre
    return torch.from_numpy(rows)
