"""What was tried for a parameter, and what was taken."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class ChoiceCurve(NamedTuple):
    """Scores of the candidates for a parameter that was chosen by them.

    Example:
        >>> curve = ChoiceCurve(np.array([2, 3]), np.array([1.0, 1.4]), np.array([0.1, 0.1]), 3)
        >>> curve.chosen in curve.candidates
        True

    Attributes:
        candidates: (n,) what was tried.
        scores: (n,) how well each did.
        errors: (n,) standard errors of the scores.
        chosen: the candidate that was taken.

    """

    candidates: npt.NDArray[np.intp]
    scores: npt.NDArray[np.float64]
    errors: npt.NDArray[np.float64]
    chosen: int
