"""How a run can end early."""

from __future__ import annotations

import math
import signal
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


class NonFiniteLoss(RuntimeError):
    """The loss, the embedding or the weights stopped being numbers.

    Attributes:
        step: at which it happened.
        loss: its last value; still finite if only the weights are not.
        concentration: Λ̂ before the step, if the loss has one.
        checkpoint: the last good one, if there is any: the step that follows it gives finite numbers.

    """

    def __init__(self, step: int, loss: float, concentration: Tensor | None, checkpoint: Path | None) -> None:
        self.step, self.loss, self.concentration, self.checkpoint = step, loss, concentration, checkpoint
        values = "" if concentration is None else f", Λ̂ = {[round(v, 3) for v in concentration.tolist()]}"
        good = "none was written" if checkpoint is None else str(checkpoint)
        what = "weights that are not finite" if math.isfinite(loss) else f"loss {loss}"
        super().__init__(f"{what} at step {step}{values}; last good checkpoint: {good}")


class TrainingInterrupted(RuntimeError):
    """The run was told to stop, and saved its state if it has a directory.

    Attributes:
        signal: that was received.
        step: steps done.
        checkpoint: to resume from, if the run has a directory.

    """

    def __init__(self, received: int, step: int, checkpoint: Path | None) -> None:
        self.signal, self.step, self.checkpoint = received, step, checkpoint
        saved = "nothing was saved" if checkpoint is None else f"saved {checkpoint}"
        super().__init__(f"stopped by {signal.Signals(received).name} after step {step}; {saved}")


class SphereFound(Exception):
    """The latents of a run that was to stay in flat space live on a sphere."""
