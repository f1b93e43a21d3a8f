"""Running the training of an estimator: device, progress bar, Ctrl-C, and the curve of the loss."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from aninfonce.estimator.pairs import Pairs
from aninfonce.training.config import TrainingConfig
from aninfonce.training.errors import TrainingInterrupted
from aninfonce.training.loop import Trainer
from aninfonce.training.progress import ProgressBar
from aninfonce.training.result import Fitted

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def open_trainer(pairs: Pairs, config: TrainingConfig, device: str, verbose: int) -> Trainer:
    """Set up a run on pairs; refuses observations that do not vary."""
    if not np.ptp(pairs.x, axis=0).any():
        raise ValueError(f"`X` must vary, got {len(pairs)} equal rows")
    reporters = [ProgressBar("ContrastiveICA")] if verbose else []
    return Trainer(pairs.source(config.seed), config, fabric=one_device(device), reporters=reporters)


def train(trainer: Trainer) -> Fitted:
    """Run to the end."""
    try:
        return trainer.fit()
    except TrainingInterrupted as stop:
        # There is no checkpoint to go on from: let Ctrl-C be what it is everywhere else.
        if stop.signal == signal.SIGINT:
            raise KeyboardInterrupt from None
        raise


def loss_curve(fitted: Fitted) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Read off the running mean of the loss, and the steps at which it was logged."""
    rows = [row for row in fitted.history if row["loss"] is not None]
    return (
        np.array([row["loss"] for row in rows], dtype=np.float64),
        np.array([row["step"] for row in rows], dtype=np.intp),
    )


def one_device(device: str) -> Fabric:
    """Open a device by the names that torch uses, or the best there is for "auto"."""
    from lightning_fabric import Fabric

    kind, _, index = str(device).partition(":")
    kind = {"cuda": "gpu"}.get(kind, kind)
    try:
        devices: Any = [int(index)] if index else 1
        fabric = Fabric(accelerator=kind, devices=devices)
    except (ValueError, RuntimeError, TypeError) as problem:
        raise ValueError(
            f"`device` must be 'auto', 'cpu', 'cuda', 'cuda:0' or 'mps', got {device!r}: {problem}"
        ) from None
    fabric.launch()
    return fabric
