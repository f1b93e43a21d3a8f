"""What the colour of a row stands for: a number, such as time, or one of a few labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aninfonce._validation import describe, is_tensor
from aninfonce.plots._arrays import Floats, as_vector

# More labels than this cannot be told apart by colour: the rarest share one.
MOST_LABELS = 10
OTHER = "other"


@dataclass(frozen=True)
class Coloring:
    """Colour of each row.

    Attributes:
        values: (n,), numbers, or the place of each row's label in `names`.
        names: of the labels, the last may be "other"; None if the values are numbers.
        title: title of the legend.

    """

    values: Floats
    names: tuple[str, ...] | None
    title: str

    def take(self, rows: npt.NDArray[np.intp]) -> Coloring:
        """Keep some rows."""
        return Coloring(self.values[rows], self.names, self.title)


def coloring(color: Any, rows: int, title: str | None = None) -> Coloring:
    """Tell labels from numbers in `color` (n,), or number the rows if it is None.

    Texts, truth values and up to ten different whole numbers are labels.

    >>> coloring(["wake", "sleep", "wake"], 3).names
    ('sleep', 'wake')
    >>> coloring(None, 3).values, coloring([0.5, 0.1, 0.2], 3).names is None
    (array([0., 1., 2.]), True)
    """
    if color is None:
        return Coloring(np.arange(rows, dtype=np.float64), None, title or "row")
    # A column of a frame brings its name.
    title = title or str(getattr(color, "name", None) or "")
    given = np.asarray(color.detach().cpu() if is_tensor(color) else color)
    if given.ndim != 1 or len(given) != rows:
        raise ValueError(f"`color` must have one entry for each of the {rows} rows, got {describe(given)}")
    whole = given.dtype.kind in "iu" and len(np.unique(given)) <= MOST_LABELS
    if not whole and given.dtype.kind in "iuf":
        return Coloring(as_vector(given, "color"), None, title)
    texts = given if whole or given.dtype.kind == "b" else given.astype(str)
    found, codes, counts = np.unique(texts, return_inverse=True, return_counts=True)
    if len(found) <= MOST_LABELS:
        return Coloring(codes.astype(np.float64), tuple(map(str, found.tolist())), title)
    kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_LABELS - 1])
    place = np.full(len(found), len(kept))
    place[kept] = np.arange(len(kept))
    names = (*map(str, found[kept].tolist()), OTHER)
    return Coloring(place[codes].astype(np.float64), names, title)
