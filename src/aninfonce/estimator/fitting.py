"""Running the training of an estimator: device, progress bar, Ctrl-C, early stopping and the curves."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from aninfonce.estimator.pairs import Array, Pairs
from aninfonce.estimator.scoring import bits_above_chance
from aninfonce.estimator.settings import own_names
from aninfonce.training.config import TrainingConfig
from aninfonce.training.errors import TrainingInterrupted
from aninfonce.training.loop import Trainer
from aninfonce.training.model import Embedding
from aninfonce.training.progress import ProgressBar
from aninfonce.training.result import Fitted
from aninfonce.training.stopping import EarlyStopping
from aninfonce.training.unfold import embed_in_chunks
from aninfonce.training.whitening import Whitening

if TYPE_CHECKING:
    from lightning_fabric import Fabric

Curve = tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]

# Range of a column, as a share of its mean, below which float32 keeps too few of its digits.
_LEAST_RANGE = 1e-5
# Held-out pairs that are looked at during training, at most.
_MOST_WATCHED = 1024


class Run:
    """A training run of an estimator on pairs.

    Training is in float32. So inputs that are whitened are centred before, in float64, or the digits in which
    they differ would be lost where they are small beside their mean; the encoder that comes out knows of it.

    Args:
        pairs: to train on.
        config: all settings.
        device: by torch's name, or "auto".
        verbose: above 0 for a progress bar.
        held_out: pairs that decide which weights are kept; None for the last ones.
        patience: of the early stopping.

    """

    def __init__(
        self,
        pairs: Pairs,
        config: TrainingConfig,
        device: str,
        verbose: int,
        held_out: Pairs | None = None,
        patience: int | None = None,
    ) -> None:
        if not np.ptp(pairs.x, axis=0).any():
            raise ValueError(f"`X` must vary, got {len(pairs)} equal rows")
        mean = pairs.x.mean(axis=0, dtype=np.float64)
        self.centre: Array | None = mean if config.recipe.whiten else None
        if self.centre is None:
            _check_digits(pairs.x, mean)
        self.stopping: EarlyStopping | None = None
        if held_out is not None:
            self.stopping = watch(held_out.some(_MOST_WATCHED, config.seed), self.centre, patience)
        with own_names():
            self.trainer = Trainer(
                pairs.source(config.seed, self.centre),
                config,
                fabric=one_device(device),
                reporters=[ProgressBar("ContrastiveICA")] if verbose else [],
                stopping=self.stopping,
            )

    def start_from(self, encoder: Embedding, loss: nn.Module, optimizer_states: list[dict[str, Any]]) -> None:
        """Take up an earlier run's weights and, if they are known, its optimisers' states."""
        self.trainer.embedding.load_state_dict(encoder.state_dict())
        self.trainer.loss.load_state_dict(loss.state_dict())
        for optimizer, state in zip(self.trainer.optimizers, optimizer_states, strict=False):
            optimizer.load_state_dict(state)
        self._shift(-1.0)

    def fit(self) -> Fitted:
        """Run to the end; the encoder takes inputs as they came."""
        try:
            fitted = self.trainer.fit()
        except TrainingInterrupted as stop:
            # There is no checkpoint to go on from: let Ctrl-C be what it is everywhere else.
            if stop.signal == signal.SIGINT:
                raise KeyboardInterrupt from None
            raise
        self._shift(1.0)
        return fitted

    def _shift(self, sign: float) -> None:
        inputs = self.trainer.embedding.inputs
        if self.centre is not None:
            assert isinstance(inputs, Whitening)
            inputs.shift(sign * torch.from_numpy(self.centre))


def _check_digits(x: Array, mean: Array) -> None:
    """Refuse columns of which float32 would keep little but their mean."""
    lost = np.flatnonzero(np.ptp(x, axis=0) < _LEAST_RANGE * np.abs(mean))
    if len(lost):
        raise ValueError(
            f"`X` must vary by {_LEAST_RANGE:g} of its mean if whiten=False: training is in float32,"
            f" got column {lost[0]} with a mean of {mean[lost[0]]:g}: subtract it"
        )


def watch(held_out: Pairs, centre: Array | None, patience: int | None) -> EarlyStopping:
    """Let the bits on held-out pairs decide which weights are kept."""
    pairs = held_out.batch(centre)

    def score(encoder: Embedding, loss: nn.Module) -> float:
        device = next(encoder.parameters()).device
        z, z_pos = (embed_in_chunks(encoder, x.to(device)) for x in (pairs.x, pairs.x_pos))
        return bits_above_chance(loss, z, z_pos, apart=held_out.apart)

    return EarlyStopping(score, patience)


def loss_curve(fitted: Fitted) -> Curve:
    """Read off the running mean of the loss, and the steps at which it was logged."""
    rows = [row for row in fitted.history if row["loss"] is not None]
    return _curve([row["loss"] for row in rows], [row["step"] for row in rows])


def held_out_curve(stopping: EarlyStopping | None) -> Curve:
    """Read off the held-out scores, and the steps at which they were taken; both empty if nothing was."""
    return _curve(stopping.scores, stopping.steps) if stopping is not None else _curve([], [])


def _curve(values: list[float], steps: list[int]) -> Curve:
    return np.array(values, dtype=np.float64), np.array(steps, dtype=np.intp)


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
