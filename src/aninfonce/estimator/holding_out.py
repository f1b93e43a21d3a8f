"""Which rows of recordings are kept from training: whole sessions, or the end of each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# Sessions to be held out for that to be done whole; of fewer, the end of each is.
_FEWEST_WHOLE = 3


def later_rows(
    session: npt.NDArray[np.intp], share: float, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
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
