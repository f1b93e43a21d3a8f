"""Rows of recordings as an encoder sees them: one session after another, each row with its neighbours."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.validation import validate_data
from torch import Tensor

from aninfonce._validation import describe
from aninfonce.encoders.embedding import Embedding

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
Gaps = Literal["error", "skip"]

_FLOATS = [np.float64, np.float32]
# By what a column may vary: training is in float32, which knows no numbers much beyond these.
_RANGES = 1e-30, 1e37


@dataclass(frozen=True)
class Frames:
    """Rows, and what an encoder is shown of them: each alone, or a window around it.

    At the ends of a session its first or last row is repeated to fill the window.

    Example:
        >>> frames = Frames(np.arange(4.0)[:, None], np.array([0, 0, 0, 1]), window=3)
        >>> frames[:]
        array([[0., 0., 1.],
               [0., 1., 2.],
               [1., 2., 2.],
               [3., 3., 3.]])

    Attributes:
        rows: (N, ...) of all sessions, one after another.
        session: (N,) ascending numbers of the sessions.
        window: odd number of rows that the encoder sees at once, side by side.
        gap: (N,) rows that are missing; None if none are.

    """

    rows: Array
    session: Index
    window: int = 1
    gap: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which: slice | Index) -> Array:
        """Give what the encoder is shown of some rows, (n, window · D)."""
        if self.window == 1:
            return self.rows[which]
        index = np.arange(len(self))[which]
        return self.rows[self.neighbours(index)].reshape(len(index), -1)

    def neighbours(self, index: Index) -> Index:
        """List the rows in the window of each of some rows, (n, window)."""
        half = self.window // 2
        first = np.searchsorted(self.session, self.session[index], "left")[:, None]
        last = np.searchsorted(self.session, self.session[index], "right")[:, None] - 1
        near: Index = np.clip(index[:, None] + np.arange(-half, half + 1), first, last).astype(np.intp)
        return near

    @property
    def usable(self) -> npt.NDArray[np.bool_]:
        """Whether nothing is missing in the window of a row, (N,)."""
        if self.gap is None:
            return np.ones(len(self), dtype=bool)
        missing = self.gap[self.neighbours(np.arange(len(self)))]
        usable: npt.NDArray[np.bool_] = np.logical_not(np.any(missing, axis=1))
        return usable

    def mean(self) -> Array:
        """Mean of what the encoder is shown, in float64, the shape of one row of it."""
        rows = self.rows if self.gap is None else self.rows[~self.gap]
        mean = rows.mean(axis=0, dtype=np.float64)
        return mean if self.window == 1 else np.tile(mean, self.window)


@dataclass(frozen=True)
class GivenRows:
    """What a user gave, in order of sessions, and the way back to how it was given.

    Attributes:
        frames: rows in the order of sessions.
        order: (N,) where each of these rows stood as given.
        lengths: of the sessions, if they were given as a list.

    """

    frames: Frames
    order: Index
    lengths: tuple[int, ...] | None

    def like_given(self, values: Array) -> Array | list[Array]:
        """Bring one value per row (N, ...) into the order, or the list, that the rows came in."""
        back = np.empty_like(values)
        back[self.order] = values
        return back if self.lengths is None else np.split(back, np.cumsum(self.lengths)[:-1])


def read_rows(estimator: Any, X: Any, groups: Any, *, window: int, gaps: Gaps, reset: bool) -> GivenRows:
    """Check rows as scikit-learn does, and find out which belong to one session.

    Args:
        estimator: whose number of features is set, or checked.
        X: rows (N, D), pictures (N, C, H, W), or a list of sessions, each with its own number of rows.
        groups: (N,) labels of the sessions of X; None for a single one, or a list.
        window: rows that the encoder sees at once.
        gaps: whether rows with NaN are refused, or left out.
        reset: whether this is a fit.

    Returns:
        The rows, sorted by session.

    """
    lengths = None
    X = without_mask(X)
    if is_list_of_sessions(X):
        if groups is not None:
            raise ValueError("`groups` must be None where X is a list: each part of it is a session")
        X, lengths = _joined(X)
        groups = np.repeat(np.arange(len(lengths)), lengths)
    try:
        x = validate_data(
            estimator,
            X,
            dtype=_FLOATS,
            ensure_min_samples=3 if reset else 1,
            allow_nd=True,
            ensure_all_finite="allow-nan" if gaps == "skip" else True,
            reset=reset,
        )
    except ValueError as problem:
        if "NaN" in str(problem):
            raise ValueError(
                f"{str(problem).splitlines()[0]} If such rows are gaps of a recording, gaps='skip' leaves"
                " them out of all pairs and gives them back as NaN"
            ) from None
        raise
    if x.ndim not in (2, 4):
        hint = ": sessions of one length go as list(X)" if x.ndim == 3 else ""
        raise ValueError(f"`X` must hold rows (N, D) or pictures (N, C, H, W), got {describe(x)}{hint}")
    _check_row_shape(estimator, x, reset=reset)
    if reset:
        check_ranges(x, "X")
    if x.ndim == 4 and window > 1:
        raise ValueError(f"`window` must be 1 for pictures, got {window} with {describe(x)}")
    session = np.zeros(len(x), dtype=np.intp) if groups is None else _numbered(groups, len(x))
    order = np.argsort(session, kind="stable")
    in_order = bool((order == np.arange(len(x))).all())
    x, session = (x, session) if in_order else (x[order], session[order])
    gap = np.isnan(x.reshape(len(x), -1)).any(axis=1) if gaps == "skip" else None
    if gap is not None and not gap.any():
        gap = None
    return GivenRows(Frames(x, session.astype(np.intp), window, gap), order.astype(np.intp), lengths)


def is_list_of_sessions(X: Any) -> bool:
    """Tell a list of arrays, or numpy's array of arrays, from rows that are given as lists of numbers."""
    if isinstance(X, np.ndarray) and (X.dtype != object or X.ndim != 1):
        return False
    return isinstance(X, list | tuple | np.ndarray) and len(X) > 0 and all(np.ndim(part) >= 2 for part in X)


def without_mask(X: Any) -> Any:
    """Put NaN where a masked array is masked, also in lists of them: numpy would read what the mask hides.

    Example:
        >>> without_mask(np.ma.masked_array([[1, 2]], mask=[[False, True]]))
        array([[ 1., nan]])

    """
    if isinstance(X, list | tuple) and any(isinstance(part, np.ma.MaskedArray) for part in X):
        return [without_mask(part) for part in X]
    if not isinstance(X, np.ma.MaskedArray):
        return X
    return np.ma.filled(X.astype(X.dtype if X.dtype.kind == "f" else np.float64), np.nan)


def check_ranges(x: Array, name: str) -> None:
    """Refuse columns that vary so much, or so little, that float32 cannot hold them; NaN does not count."""
    rows = x.reshape(len(x), -1)
    with np.errstate(over="ignore"):
        ranges = np.fmax.reduce(rows).astype(np.float64) - np.fmin.reduce(rows).astype(np.float64)
    odd = np.flatnonzero((ranges > 0) & ((ranges < _RANGES[0]) | (ranges > _RANGES[1])))
    if len(odd):
        raise ValueError(
            f"`{name}` must have columns that vary by {_RANGES[0]:g} to {_RANGES[1]:g}: training is in"
            f" float32, got column {odd[0]} that varies by {ranges[odd[0]]:g}: use another unit"
        )


def _check_row_shape(estimator: Any, x: Array, *, reset: bool) -> None:
    """Remember the shape of a row, or check it: scikit-learn only counts the channels of pictures."""
    if reset:
        estimator._row_shape = x.shape[1:]
    elif x.shape[1:] != estimator._row_shape:
        shape = ", ".join(map(str, ("N", *estimator._row_shape)))
        raise ValueError(f"`X` must have shape ({shape}) as in `fit`, got {describe(x)}")


def _numbered(groups: Any, rows: int) -> Index:
    """Give sessions numbers by their labels, in the order of their first rows."""
    labels = np.asarray(groups)
    if labels.shape != (rows,):
        raise ValueError(f"`groups` must have shape ({rows},), one label per row of X, got {labels.shape}")
    try:
        missing = labels != labels
        _, first, member = np.unique(labels, return_index=True, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise ValueError(
            f"`groups` must hold labels of one kind, numbers or strings, got {', '.join(kinds)}"
        ) from None
    if np.any(missing):
        raise ValueError(f"`groups` must have a label for each row, got NaN for {np.sum(missing)} of {rows}")
    return np.argsort(np.argsort(first))[member.reshape(rows)].astype(np.intp)


def _joined(sessions: Any) -> tuple[Any, tuple[int, ...]]:
    parts = [np.asarray(part) for part in sessions]
    for number, part in enumerate(parts):
        if not len(part):
            raise ValueError(
                f"`X` must be a list of sessions with rows, got {describe(part)} as number {number}"
            )
        if part.shape[1:] != parts[0].shape[1:]:
            raise ValueError(
                f"`X` must be a list of sessions with the same columns, got {describe(parts[0])} first and"
                f" {describe(part)} as number {number}"
            )
    lengths = tuple(len(part) for part in parts)
    names = [list(part.columns) if hasattr(part, "columns") else None for part in sessions]
    for number, own in enumerate(names):
        if own != names[0]:
            raise ValueError(
                f"`X` must be a list of sessions with the same columns, got {names[0]} first and {own} as"
                f" number {number}"
            )
    if names[0] is not None and all(hasattr(part, "iloc") for part in sessions):
        # Names are kept, and pandas is not needed by those who have none.
        return import_module("pandas").concat(list(sessions), ignore_index=True), lengths
    return np.concatenate(parts), lengths


@torch.no_grad()
def embed_rows(
    encoder: Embedding, x: Array | Frames, *, batch_size: int = 8192, exact: bool = False
) -> Tensor:
    """Embed the rows of an array or memory map, a batch at a time.

    Inputs are whitened in float64 whatever the precision of the rest: columns may be far from zero.

    Args:
        encoder: on any device, in the mode that it is to be used in.
        x: (N, ...), or rows with their windows.
        batch_size: rows at once.
        exact: compute in float64 (where the device has it), so that not even the last digits of float32
            depend on which rows are embedded together.

    Returns:
        (N, d) on the encoder's device.

    """
    weight = next(encoder.parameters())
    if exact and weight.device.type != "mps":
        encoder = copy.deepcopy(encoder).double()
        weight = next(encoder.parameters())
    inputs = copy.deepcopy(encoder.inputs).cpu().double()
    parts = (
        inputs(torch.from_numpy(np.array(x[i : i + batch_size], dtype=np.float64))).to(weight)
        for i in range(0, len(x), batch_size)
    )
    return torch.cat([encoder.head(encoder.body(part)) for part in parts])


def embed_columns(encoder: Embedding, x: Array | Frames) -> Floats:
    """Embed rows as an array in float64."""
    return embed_rows(encoder, x).cpu().double().numpy()
