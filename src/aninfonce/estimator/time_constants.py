"""Λ̂ of a recording told as time: how long a factor remembers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from aninfonce.alignment import time_constant

Floats = npt.NDArray[np.float64]


class TimeConstants:
    """What the Λ̂ of a flat embedding of a recording says about time.

    Attributes:
        concentration_: Λ̂ (d,) of factors of unit variance.
        concentration_interval_: their intervals (d, 2).
        lag_: rows from an anchor to its positive; None if the pairs are of no recording.
        space_: where the embedding lives.

    """

    concentration_: Floats
    concentration_interval_: Floats
    lag_: int | None
    space_: str

    @property
    def time_constants_(self) -> Floats | None:
        """Rows after which each column's autocorrelation has fallen to 1/e, (d,)."""
        return self._in_rows(self.concentration_)

    @property
    def time_constants_interval_(self) -> Floats | None:
        """Intervals (d, 2) of `time_constants_`."""
        return self._in_rows(self.concentration_interval_)

    def _in_rows(self, values: Floats) -> Floats | None:
        if self.lag_ is None or self.space_ != "flat":
            return None
        found: Floats = time_constant(torch.from_numpy(values), self.lag_).numpy()
        return found
