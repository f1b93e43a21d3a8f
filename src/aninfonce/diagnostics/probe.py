"""A classifier between two versions of the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from aninfonce.diagnostics.intervals import Interval, Matrix, proportion

# Directions that the probe looks at; with more it would memorise rows.
_MOST_DIRECTIONS = 64


@dataclass(frozen=True)
class Probe:
    """Held-out answers.

    Attributes:
        scores: (M,) predicted probability of the second version.
        second: (M,) whether it was the second.

    """

    scores: Matrix
    second: npt.NDArray[np.bool_]

    @property
    def right(self) -> npt.NDArray[np.bool_]:
        """(M,) whether the answer was right."""
        return np.equal(self.scores > 0.5, self.second)

    @property
    def accuracy(self) -> tuple[float, Interval]:
        """Share of right answers, and its interval."""
        return proportion(int(self.right.sum()), len(self.right))


def probe_two(first: Matrix, second: Matrix, rng: np.random.Generator) -> Probe:
    """Learn on half of the rows, (N, d), which version a row is in, and answer for the other half.

    Each row is shown in one version only, so that its twin cannot give the answer away; probes with equal
    generators see the same versions. The probe is logistic regression on the directions of most variance and
    their squares: it sees a shift, a stretch, or both.
    """
    changed = rng.random(len(first)) < 0.5
    shown = np.where(changed[:, None], second, first)
    half = len(shown) // 2
    directions = min(_MOST_DIRECTIONS, shown.shape[1], half)
    model = make_pipeline(
        PCA(directions, random_state=int(rng.integers(2**31))),
        StandardScaler(),
        FunctionTransformer(_with_squares),
        LogisticRegression(C=0.1, max_iter=1000),
    )
    # Rows that are all equal have no variance to share out.
    with np.errstate(invalid="ignore", divide="ignore"):
        model.fit(shown[:half], changed[:half])
        return Probe(model.predict_proba(shown[half:])[:, 1], changed[half:])


def _with_squares(x: Matrix) -> Matrix:
    return np.concatenate([x, x**2], axis=1)
