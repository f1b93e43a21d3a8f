"""How an estimator turns its input into pairs, and remembers the way for later rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aninfonce._validation import brief
from aninfonce.estimator.choosing import ChoiceCurve
from aninfonce.estimator.frames import Frames, Gaps, GivenRows, read_rows
from aninfonce.estimator.lag_choice import choose_lag
from aninfonce.estimator.pairs import Augment, Pairs, holds_rows, make_pairs


class Pairing:
    """Pairs of an estimator, made as its parameters `lag`, `window` and `gaps` say."""

    lag: Any
    window: int
    gaps: Gaps
    lags_: tuple[int, ...]
    """Rows from an anchor to its positive, (L,); empty if the pairs are not from a recording."""
    lag_curve_: ChoiceCurve | None
    _augment: Augment | None
    _row_shape: tuple[int, ...]
    _window: int

    @property
    def lag_(self) -> int | tuple[int, ...] | None:
        """The lag, or several; None if X was not a recording."""
        if not self.lags_:
            return None
        return self.lags_[0] if len(self.lags_) == 1 else self.lags_

    def pairs_like_fit(
        self,
        X: Any,
        y: Any = None,
        X_pos: Any = None,
        groups: Any = None,
        augment: Augment | None = None,
    ) -> tuple[Pairs, ...]:
        """Make pairs of new rows; if nothing says how, as `fit` did."""
        frames = self._read(X, groups, reset=False).frames
        self._check_names(X_pos, y)
        if X_pos is None and not holds_rows(y) and augment is None:
            augment = self._augment
            if not self.lags_ and augment is None:
                raise ValueError("the positives of X are needed, as `fit` had them: give X_pos or `augment`")
        return make_pairs(frames, y, X_pos, self.lags_ or (1,), augment)

    def _read(self, X: Any, groups: Any, *, reset: bool) -> GivenRows:
        # The network keeps the window that it was trained with, whatever the parameter has been set to since.
        window = int(self.window) if reset else self._window
        return read_rows(self, X, groups, window=window, gaps=self.gaps, reset=reset)

    def _check_names(self, *positives: Any) -> None:
        """Refuse positives with the columns of X in another order: columns are paired by position."""
        names = getattr(self, "feature_names_in_", None)
        for given in positives:
            own = getattr(given, "columns", None)
            if names is not None and own is not None and list(own) != list(names):
                raise ValueError(
                    f"`X_pos` must have the columns of X in their order, {brief(list(names))}, got"
                    f" {brief(list(own))}"
                )

    def _make_kinds(
        self, frames: Frames, y: Any, X_pos: Any, augment: Augment | None, parameters: Mapping[str, Any]
    ) -> tuple[Pairs, ...]:
        """Make pairs for a fit: one kind for each lag."""
        self._check_names(X_pos, y)
        if self.lag is not None and (X_pos is not None or holds_rows(y) or augment is not None):
            way = "augment" if augment is not None else "X_pos"
            raise ValueError(f"`lag` must be None where pairs come from {way}, got {self.lag!r}")
        lags = parameters["lag"]
        if lags == "auto":
            columns = parameters["n_components"]
            lag, self.lag_curve_ = choose_lag(frames, None if columns == "auto" else columns)
            lags = (lag,)
        return make_pairs(frames, y, X_pos, lags, augment)

    def _remember_pairs(self, kinds: Sequence[Pairs]) -> None:
        self.lags_ = tuple(pairs.lag for pairs in kinds if pairs.lag is not None)
        self._augment = kinds[0].augment
        self._window = kinds[0].frames.window
