"""How long each factor of a recording remembers."""

from __future__ import annotations

import numpy as np
import torch

from aninfonce.alignment import time_constant
from aninfonce.estimator.frames import Floats


class TimeConstants:
    """What a flat embedding of a recording says about time."""

    concentrations_: Floats
    """Λ̂ (L, d) of factors of unit variance, one row for each lag."""
    concentrations_interval_: Floats
    """Their intervals (L, d, 2)."""
    lags_: tuple[int, ...]
    space_: str
    rate: float | None
    decay_times_: Floats
    """Times in rows with both ends of their intervals (d, 3), as `decay_times` measures them; empty where
    they follow from Λ̂ instead."""

    @property
    def concentration_(self) -> Floats:
        """Λ̂ (d,); of several lags, that of the first."""
        first: Floats = self.concentrations_[0]
        return first

    @property
    def concentration_interval_(self) -> Floats:
        """Intervals (d, 2) of `concentration_`."""
        first: Floats = self.concentrations_interval_[0]
        return first

    @property
    def time_constants_(self) -> Floats | None:
        """Time after which each column's autocorrelation has fallen to 1/e, (d,).

        In rows, or in seconds if `rate` is given. It is measured on the column itself, at lags at which an
        encoder's errors are forgotten (`aninfonce.diagnostics.decay_times`). With `dynamics` it follows from
        Λ̂, as the modes have it.
        """
        found = self._times()
        return None if found is None else found[:, 0]

    @property
    def time_constants_interval_(self) -> Floats | None:
        """Intervals (d, 2) of `time_constants_`."""
        found = self._times()
        return None if found is None else found[:, 1:]

    def _times(self) -> Floats | None:
        """Time constants with both ends, (d, 3)."""
        if not self.lags_ or self.space_ not in ("flat", "box"):
            return None
        if len(self.decay_times_):
            return self.decay_times_ / (self.rate or 1.0)
        values = np.concatenate([self.concentrations_[..., None], self.concentrations_interval_], axis=2)
        lags = torch.tensor(self.lags_, dtype=torch.float64)[:, None, None]
        times: Floats = time_constant(torch.from_numpy(values), lags).numpy() / (self.rate or 1.0)
        logs = np.log(np.clip(times[..., 1:], 1e-300, 1e300))
        best = np.argmin(logs[..., 1] - logs[..., 0], axis=0)
        found: Floats = times[best, np.arange(times.shape[1])]
        return found
