"""Pairs from a finite set of pictures: which stored latents are nearest to those that were drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import KDTree

from aninfonce.extending import describe
from aninfonce_papers.worlds.scenes.shapes import Floats, Integers


class NearestLatents:
    """Finds the nearest of stored latents, exactly, and if asked only among those of the same class.

    Example:
        >>> stored = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> nearest = NearestLatents(stored)
        >>> nearest.rows(np.array([[0.9, 0.2]])).tolist()
        [1]
        >>> nearest.partners(np.array([1]), np.array([[0.9, 0.2]])).tolist()  # not the anchor itself
        [0]

    Args:
        latents: stored (N, d).
        classes: of each (N,); all the same if omitted.

    """

    def __init__(self, latents: npt.ArrayLike, classes: npt.ArrayLike | None = None) -> None:
        stored = np.asarray(latents, dtype=np.float64)
        if stored.ndim != 2 or len(stored) < 2:
            raise ValueError(f"`latents` must be at least 2 of shape (N, d), got {describe(stored)}")
        self.classes = np.zeros(len(stored), dtype=np.int64) if classes is None else np.asarray(classes)
        if self.classes.shape != (len(stored),):
            raise ValueError(f"`classes` must have shape ({len(stored)},), got {self.classes.shape}")
        self._members: dict[Any, Integers] = {
            kind: np.flatnonzero(self.classes == kind) for kind in np.unique(self.classes)
        }
        alone = [kind for kind, rows in self._members.items() if len(rows) < 2]
        if alone:
            raise ValueError(f"`classes` must hold each class at least twice, got one of {alone[0]}")
        self._trees = {kind: KDTree(stored[rows]) for kind, rows in self._members.items()}

    def rows(self, wanted: npt.ArrayLike, classes: npt.ArrayLike | None = None) -> Integers:
        """Find the stored latents nearest to `wanted` (n, d): their rows (n,).

        They are looked for among those of `classes` (n,), or of the first class if omitted.
        """
        return self._two(wanted, classes)[:, 0]

    def partners(self, anchors: npt.ArrayLike, wanted: npt.ArrayLike) -> Integers:
        """Find the stored latents nearest to `wanted` (n, d) of the anchors' class, never an anchor itself.

        Anchors are rows of the stored latents (n,), and so are their partners.
        """
        rows = np.asarray(anchors)
        two = self._two(wanted, self.classes[rows])
        return np.where(two[:, 0] == rows, two[:, 1], two[:, 0])

    def _two(self, wanted: npt.ArrayLike, classes: npt.ArrayLike | None) -> Integers:
        points: Floats = np.asarray(wanted, dtype=np.float64)
        chosen = np.full(len(points), self.classes.min()) if classes is None else np.asarray(classes)
        found = np.empty((len(points), 2), dtype=np.int64)
        for kind in np.unique(chosen):
            if kind not in self._trees:
                known = ", ".join(map(str, sorted(self._trees)))
                raise ValueError(f"`classes` must be among {known}, got {kind}")
            mine = chosen == kind
            _, near = self._trees[kind].query(points[mine], k=2, workers=-1)
            found[mine] = self._members[kind][near]
        return found
