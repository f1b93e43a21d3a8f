"""The training loop, on Lightning Fabric: one process or many, CPU or GPU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from aninfonce._seeds import global_stream, stream
from aninfonce.alignment.folding import FoldingCheck
from aninfonce.alignment.map_to_sphere import prepare_for_sphere
from aninfonce.alignment.space_choice import SpaceChoice
from aninfonce.encoders.embedding import weight_type
from aninfonce.encoders.whitening import Whitening
from aninfonce.losses import LinearDynamics
from aninfonce.optim.optimizers import build_optimizers
from aninfonce.optim.schedules import batch_size_at, set_rates
from aninfonce.processes import PairBatch
from aninfonce.sources.as_source import as_source
from aninfonce.training.checkpoints import (
    Snapshot,
    checkpoint_path,
    last_snapshot_before,
    newest_snapshot,
    save_snapshot,
)
from aninfonce.training.config import TrainingConfig
from aninfonce.training.early_stopping import EarlyStopping
from aninfonce.training.errors import NonFiniteLoss, SphereFound, TrainingInterrupted
from aninfonce.training.fitted import Fitted
from aninfonce.training.interrupt import StoppedAtOnce, StopSignals
from aninfonce.training.model import (
    EncoderWithLoss,
    build_embedding,
    build_loss,
    check_batches,
    complete_config,
)
from aninfonce.training.monitor import Row, concentration_of, open_monitor
from aninfonce.training.packing import pack, unpack
from aninfonce.training.phases import (
    fit_closing,
    goes_on_after_phase,
    is_due_on_sphere,
    put_on_sphere,
    start_dynamics,
)
from aninfonce.training.reporters import Reporter, TableFiles
from aninfonce.training.run_folder import claim_for_all
from aninfonce.training.stopwatch import Stopwatch

if TYPE_CHECKING:
    from lightning_fabric import Fabric

_WHITENING_INPUTS = 16_384
# Weight of the newest loss in the running mean that is logged.
_NEWEST = 0.02


def fit(
    pairs: Any,
    config: TrainingConfig | None = None,
    *,
    encoder: nn.Module | None = None,
    loss: nn.Module | None = None,
    held_out: Any = None,
    directory: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    fabric: Fabric | None = None,
    reporters: Sequence[Reporter] = (),
) -> Fitted:
    """Train an encoder on pairs so that it inverts the mixing behind them.

    Example:
        >>> from aninfonce.processes import process
        >>> from aninfonce.training import TrainingConfig, fit
        >>> pairs = process("fig2/25", mixing="identity")
        >>> config = TrainingConfig(recipe={"steps": 20, "close": None}, checkpoint_every=0)
        >>> fitted = fit(pairs, config)
        >>> fitted.embed(pairs.sample(5).x).shape
        torch.Size([5, 10])

    Args:
        pairs: a process, arrays (x, x_pos), or a loader of such batches; see `as_source`.
        config: all settings; the recipe "fast" if omitted.
        encoder: a module of your own in place of the configured one, from observations to (N, d). `space`
            still decides its last step: "unbounded" leaves it as it is.
        loss: a module of your own in place of the configured one.
        held_out: pairs to evaluate on, in any form that `pairs` may have; then none are set aside. If
            omitted, `config.held_out` says how many of `pairs` are.
        directory: where the log and checkpoints go; nothing is written if omitted. It belongs to this run:
            one that holds another, or that another process trains in, is refused.
        resume: go on from the newest checkpoint in `directory`, if there is one. All settings must be those
            of the run that is there. A finished run just returns its result.
        overwrite: remove the run that `directory` holds, and nothing else there, and start anew.
        fabric: devices, precision and processes, already launched; one CPU or GPU if omitted.
        reporters: told of every logged row, such as a progress bar.

    Returns:
        The finished encoder, Λ̂, the history and the folding check.

    """
    return Trainer(
        pairs,
        config,
        encoder=encoder,
        loss=loss,
        held_out=held_out,
        directory=directory,
        fabric=fabric,
        reporters=reporters,
    ).fit(resume=resume, overwrite=overwrite)


class Trainer:
    """A training run that can be stopped and resumed; `fit` explains the arguments."""

    def __init__(
        self,
        pairs: Any,
        config: TrainingConfig | None = None,
        *,
        encoder: nn.Module | None = None,
        loss: nn.Module | None = None,
        held_out: Any = None,
        directory: str | Path | None = None,
        fabric: Fabric | None = None,
        reporters: Sequence[Reporter] = (),
        stopping: EarlyStopping | None = None,
    ) -> None:
        config = config or TrainingConfig()
        self.fabric = fabric or _one_device()
        # A loader draws from the global generator: here it does so from the seed.
        with global_stream(config.seed, "global", "opening", device=self.fabric.device):
            self.source = as_source(pairs, config.seed)
            check_batches(self.source, config.recipe)
            self.monitor = open_monitor(self.source, config, held_out)
        self.config = complete_config(config, self.source.process, self.monitor.pairs, encoder, loss)
        assert self.config.dim is not None
        self.embedding = build_embedding(self.config, stream(config.seed, "weights", "encoder"), encoder)
        if config.recipe.whiten:
            with global_stream(config.seed, "global", "whitening", device=self.fabric.device):
                x = self.source.fresh(_WHITENING_INPUTS).x.to(weight_type(self.embedding))
            scales = config.recipe.whiten == "scale"
            self.embedding.inputs = Whitening.scaling(x) if scales else Whitening.of(x)
        drawn = stream(config.seed, "weights", "loss")
        self.loss = loss if loss is not None else build_loss(self.config.loss, self.config.dim, drawn)
        if loss is None and isinstance(self.loss, LinearDynamics):
            with global_stream(config.seed, "global", "dynamics", device=self.fabric.device):
                some = self.source.fresh(_WHITENING_INPUTS)
            start_dynamics(self.embedding, self.loss, some)
        self.closing_generator = stream(config.seed, "folding check")
        self.last: nn.Linear | None = None
        self.appended_linear = False
        if self.config.unfolds or self.config.closes:
            few = self.monitor.pairs.x[:8].to(weight_type(self.embedding))
            self.last, self.appended_linear = prepare_for_sphere(
                self.embedding, self.loss, few, self.config.dim
            )
        if self.config.unfolds:
            self.embedding.head = nn.Identity()
        self.optimizers: list[Optimizer] = build_optimizers(self.embedding, self.loss, self.config.recipe)
        self.model, *wrapped = self.fabric.setup(EncoderWithLoss(self.embedding, self.loss), *self.optimizers)
        self._steppers = wrapped
        self.directory = None if directory is None else Path(directory)
        self.reporters = list(reporters)
        if self.directory is not None:
            self.reporters.insert(0, TableFiles(self.directory))
        self.watch = Stopwatch()
        self.step = 0
        if stopping is not None and directory is not None:
            raise ValueError("`stopping` keeps weights in memory: a run with a `directory` cannot have it")
        self.stopping = stopping
        # As it runs: a first phase that is ended early shortens it.
        self.recipe = self.config.recipe
        self.spherical = not self.config.unfolds
        # A caller with another way to train on a sphere has `SphereFound` raised before this run goes there.
        self.stays_flat = False
        self.closed = False
        self.folding: FoldingCheck | None = None
        self.choice: SpaceChoice | None = None
        self.history: list[Row] = []
        self.running_loss: float | None = None
        self._before = 0.0

    # ------------------------------------------------------------------ running

    def fit(self, *, resume: bool = False, overwrite: bool = False) -> Fitted:
        """Train to the end and close; see `fit` for `resume` and `overwrite`."""
        # Dropout and the orders of loaders know the global generator only: in a run it is the run's, and
        # alike in all processes, so that one checkpoint restores them all.
        with (
            claim_for_all(self.fabric, self.directory, self.config, resume=resume, overwrite=overwrite),
            global_stream(self.config.seed, "global", "steps", device=self.fabric.device),
        ):
            return self._run(resume=resume)

    def _run(self, *, resume: bool) -> Fitted:
        if resume and self.directory is not None and (found := newest_snapshot(self.directory)):
            self.restore(found[1])
        reporters = self.reporters if self.fabric.is_global_zero else []
        for reporter in reporters:
            reporter.start(self.config, self.history)
        self.watch.start()
        try:
            with StopSignals() as signals:
                self._train(reporters, signals)
                if not self.closed:
                    self._close(reporters, signals)
        finally:
            for reporter in reporters:
                reporter.finish()
        return self.result()

    def _train(self, reporters: Sequence[Reporter], signals: StopSignals) -> None:
        config = self.config
        self.model.train()
        while self.step < self.recipe.steps:
            if is_due_on_sphere(self):
                if self.stays_flat:
                    raise SphereFound
                put_on_sphere(self)
            value = self._one_step()
            old = self.running_loss
            self.running_loss = value if old is None else old + _NEWEST * (value - old)
            last = self.step == self.recipe.steps
            due = self.step % config.log_every == 0 or last
            evaluate = config.evaluate_every and (self.step % config.evaluate_every == 0 or last)
            if due or evaluate:
                self._log(reporters, evaluate=bool(evaluate))
            stop = self._agree_to_stop(signals) if due or self.fabric.world_size == 1 else None
            saves = config.checkpoint_every and self.step % config.checkpoint_every == 0
            path = self.save() if (saves and not last) or stop else None
            if stop:
                raise TrainingInterrupted(stop, self.step, path)
            ends = self.stopping is not None and self.stopping.ends_phase(self)
            if ends and not goes_on_after_phase(self):
                break
        if self.stopping is not None:
            self.stopping.restore(self)

    def _one_step(self) -> float:
        """Draw a batch, take one step down its gradient, and return the loss."""
        recipe = self.recipe
        with self.watch("data"):
            batch = self._own_rows(self.source.next(batch_size_at(self.step, recipe)))
        with self.watch("encoder and loss"):
            loss: Tensor = self.model(batch.x, batch.x_pos, batch.x_neg)
            value = loss.item()
            if not math.isfinite(value):
                raise self._not_finite(value)
            self.fabric.backward(loss)
        with self.watch("optimiser"):
            set_rates(self.optimizers, self.step, recipe)
            for optimizer in self._steppers:
                optimizer.step()
                optimizer.zero_grad()
        self.step += 1
        return value

    def _own_rows(self, batch: PairBatch) -> PairBatch:
        """Take this process's share of a global batch, on its device and in the type of its weights."""
        if not self.source.sharded and self.fabric.world_size > 1:
            n, rank, size = len(batch), self.fabric.global_rank, self.fabric.world_size
            batch = batch[slice(rank * n // size, (rank + 1) * n // size)]
        return batch.to(self.fabric.device, weight_type(self.embedding))

    def _close(self, reporters: Sequence[Reporter], signals: StopSignals) -> None:
        if self.config.closes:
            # Fits cannot be taken up halfway: a run that is told to stop in them ends as it is here.
            path = self.save()
            try:
                with signals.at_once() if self.fabric.world_size == 1 else nullcontext():
                    fit_closing(self)
            except StoppedAtOnce:
                assert signals.received is not None
                raise TrainingInterrupted(signals.received, self.step, path) from None
            self._log(reporters, evaluate=True)
        self.closed = True
        self.model.eval()
        path = self.save()
        stop = self._agree_to_stop(signals)
        if stop:
            raise TrainingInterrupted(stop, self.step, path)

    @property
    def space(self) -> str:
        """Where the embedding lives, as far as that is decided."""
        return self.config.space if self.choice is None else self.choice.space

    def _agree_to_stop(self, signals: StopSignals) -> int | None:
        """Ask whether any process was told to stop."""
        if self.fabric.world_size == 1:
            return signals.received
        mine = torch.tensor(float(signals.received or 0), device=self.fabric.device)
        asked: Any = self.fabric.all_reduce(mine, reduce_op="max")
        return int(asked) or None

    # ------------------------------------------------------------------ reporting

    def _log(self, reporters: Sequence[Reporter], *, evaluate: bool) -> None:
        row: Row = {
            "step": self.step,
            "seconds": round(self.seconds, 3),
            "loss": self.running_loss,
            "batch_size": batch_size_at(self.step - 1, self.recipe),
        }
        concentration = concentration_of(self.loss)
        if concentration is not None:
            row["concentration"] = concentration.sort().values.tolist()
        with self.watch("evaluation"):
            if evaluate:
                row |= self.monitor.measure(self.embedding, self.loss)
        self.history.append(row)
        for reporter in reporters:
            reporter.row(row)

    @property
    def seconds(self) -> float:
        """Wall time of the run so far, earlier parts of a resumed run included."""
        return self._before + self.watch.elapsed()

    def result(self) -> Fitted:
        """Return the current encoder, loss and history."""
        concentration = concentration_of(self.loss)
        return Fitted(
            encoder=self.embedding.eval(),
            loss=self.loss.eval(),
            concentration=None if concentration is None else concentration.cpu().clone(),
            folding=self.folding,
            choice=self.choice,
            history=list(self.history),
            config=self.config,
            step=self.step,
            seconds=self.seconds,
            profile=dict(self.watch.seconds),
        )

    # ------------------------------------------------------------------ checkpoints

    def save(self) -> Path | None:
        """Write a checkpoint, if there is a directory to write to; the first process does it.

        Weights that are not finite are refused: nothing can go on from them.
        """
        if not self._has_finite_weights():
            raise self._not_finite(math.nan if self.running_loss is None else self.running_loss)
        if self.directory is None:
            return None
        if self.fabric.is_global_zero:
            with self.watch("checkpoints"):
                save_snapshot(self.directory, self.step, pack(self))
        self.fabric.barrier()
        return checkpoint_path(self.directory, self.step)

    def restore(self, snapshot: Snapshot) -> None:
        """Take up the state of a checkpoint."""
        unpack(snapshot, self)
        self._before = float(snapshot.facts["seconds"])

    def _not_finite(self, loss: float) -> NonFiniteLoss:
        # Weights that are not finite came from the step before.
        first_bad = self.step if self._has_finite_weights() else self.step - 1
        good = None if self.directory is None else last_snapshot_before(self.directory, first_bad)
        return NonFiniteLoss(self.step, loss, concentration_of(self.loss), good)

    def _has_finite_weights(self) -> bool:
        return all(bool(torch.isfinite(p).all()) for p in self.model.parameters() if p.requires_grad)


def _one_device() -> Fabric:
    from lightning_fabric import Fabric

    fabric = Fabric(accelerator="auto", devices=1)
    fabric.launch()
    return fabric
