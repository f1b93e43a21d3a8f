"""The training loop, on Lightning Fabric: one process or many, CPU or GPU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Generator, Tensor, nn
from torch.optim import Optimizer

from aninfonce.losses import AnInfoNCE
from aninfonce.processes import PairBatch
from aninfonce.training.checkpoint import Snapshot, checkpoint_path, newest_snapshot, save_snapshot
from aninfonce.training.closing import close
from aninfonce.training.config import Recipe, TrainingConfig
from aninfonce.training.errors import NonFiniteLoss, TrainingInterrupted
from aninfonce.training.folding import FoldingCheck
from aninfonce.training.interrupt import StopSignals
from aninfonce.training.log import Reporter, TableFiles
from aninfonce.training.model import (
    Contrast,
    build_embedding,
    build_loss,
    complete_encoder,
    ensure_final_linear,
    final_linear,
)
from aninfonce.training.monitor import Monitor, Row, concentration_of
from aninfonce.training.optimizers import batch_size_at, build_optimizers, set_rates
from aninfonce.training.profile import Stopwatch
from aninfonce.training.result import Fitted
from aninfonce.training.snapshot import pack, unpack
from aninfonce.training.source import PairSource, as_source
from aninfonce.training.unfold import map_to_sphere
from aninfonce.training.whitening import Whitening

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
    directory: str | Path | None = None,
    resume: bool = False,
    fabric: Fabric | None = None,
    reporters: Sequence[Reporter] = (),
) -> Fitted:
    """Train an encoder on pairs until it inverts what made them.

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
        directory: where the log and checkpoints go; nothing is written if omitted.
        resume: go on from the newest checkpoint in `directory`, if there is one.
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
        directory=directory,
        fabric=fabric,
        reporters=reporters,
    ).fit(resume=resume)


class Trainer:
    """A training run that can be stopped and taken up again; `fit` explains the arguments."""

    def __init__(
        self,
        pairs: Any,
        config: TrainingConfig | None = None,
        *,
        encoder: nn.Module | None = None,
        loss: nn.Module | None = None,
        directory: str | Path | None = None,
        fabric: Fabric | None = None,
        reporters: Sequence[Reporter] = (),
    ) -> None:
        config = config or TrainingConfig()
        self.fabric = fabric or _one_device()
        self.source = as_source(pairs, config.seed)
        # Always the first draw, so that a resumed run looks at the same held-out pairs.
        self.monitor = Monitor(self.source, config.evaluation_pairs)
        self.config = _complete(config, self.source.process, self.monitor.pairs, encoder, loss)
        _check_batches(self.source, config.recipe)
        assert self.config.dim is not None
        self.embedding = build_embedding(self.config, _generator(config.seed, 1), encoder)
        if config.recipe.whiten:
            self.embedding.inputs = Whitening.of(self.source.fresh(_WHITENING_INPUTS).x)
        self.loss = loss if loss is not None else build_loss(self.config.loss, self.config.dim)
        self.closing_generator = _generator(config.seed, 2)
        self.last: nn.Linear | None = None
        self.appended_linear = False
        if self.config.unfolds or self.config.closes:
            self._prepare_for_sphere()
        self.optimizers: list[Optimizer] = build_optimizers(self.embedding, self.loss, self.config.recipe)
        self.model, *wrapped = self.fabric.setup(Contrast(self.embedding, self.loss), *self.optimizers)
        self._steppers = wrapped
        self.directory = None if directory is None else Path(directory)
        self.reporters = list(reporters)
        if self.directory is not None:
            self.reporters.insert(0, TableFiles(self.directory))
        self.watch = Stopwatch()
        self.step = 0
        self.spherical = not self.config.unfolds
        self.closed = False
        self.folding: FoldingCheck | None = None
        self.history: list[Row] = []
        self.running_loss: float | None = None
        self._before = 0.0

    def _prepare_for_sphere(self) -> None:
        """Find (or append) the linear layer that maps fold into; leave the head off if that comes later."""
        if not isinstance(self.loss, AnInfoNCE) or self.loss.normalize:
            raise ValueError(
                "`loss` must be an AnInfoNCE with normalize=False for the recipe's steps on the sphere: they"
                f" put the embedding there themselves; got {type(self.loss).__name__}"
            )
        few = self.embedding.inputs(self.monitor.pairs.x[:8])
        assert self.config.dim is not None
        body = ensure_final_linear(self.embedding.body, few, self.config.dim)
        self.appended_linear = body is not self.embedding.body
        self.embedding.body, self.last = body, final_linear(body, few)
        if self.config.unfolds:
            self.embedding.head = nn.Identity()

    # ------------------------------------------------------------------ running

    def fit(self, *, resume: bool = False) -> Fitted:
        """Train to the end and close; see `fit` for `resume`."""
        if resume and self.directory is not None:
            self.restore_newest()
        main = self.fabric.is_global_zero
        reporters = self.reporters if main else []
        for reporter in reporters:
            reporter.start(self.config, self.history)
        self.watch.start()
        try:
            with StopSignals() as signals:
                self._train(reporters, signals)
                if not self.closed:
                    self._close(reporters)
        finally:
            for reporter in reporters:
                reporter.finish()
        return self.result()

    def _train(self, reporters: Sequence[Reporter], signals: StopSignals) -> None:
        recipe, config = self.config.recipe, self.config
        unfold = recipe.unfold if config.unfolds else None
        to_sphere = (
            {int(share * recipe.steps) for share in (unfold.share, *unfold.again)} if unfold else set()
        )
        self.model.train()
        while self.step < recipe.steps:
            if self.step in to_sphere:
                self._map_to_sphere()
            value = self._one_step()
            old = self.running_loss
            self.running_loss = value if old is None else old + _NEWEST * (value - old)
            due = self.step % config.log_every == 0 or self.step == recipe.steps
            evaluate = config.evaluate_every and (
                self.step % config.evaluate_every == 0 or self.step == recipe.steps
            )
            if due or evaluate:
                self._log(reporters, evaluate=bool(evaluate))
            stop = self._agree_to_stop(signals) if due or self.fabric.world_size == 1 else None
            saves = config.checkpoint_every and self.step % config.checkpoint_every == 0
            path = self.save() if (saves and self.step < recipe.steps) or stop else None
            if stop:
                raise TrainingInterrupted(stop, self.step, path)

    def _one_step(self) -> float:
        """Draw a batch, go down its gradient, and give the loss."""
        recipe = self.config.recipe
        with self.watch("data"):
            batch = self._own_rows(self.source.next(batch_size_at(self.step, recipe)))
        with self.watch("encoder and loss"):
            loss: Tensor = self.model(batch.x, batch.x_pos, batch.x_neg)
            value = loss.item()
            if not math.isfinite(value):
                raise NonFiniteLoss(self.step, value, concentration_of(self.loss), self._last_good())
            self.fabric.backward(loss)
        with self.watch("optimiser"):
            set_rates(self.optimizers, self.step, recipe)
            for optimizer in self._steppers:
                optimizer.step()
                optimizer.zero_grad()
        self.step += 1
        return value

    def _own_rows(self, batch: PairBatch) -> PairBatch:
        """Take this process's share of a global batch, on its device."""
        if not self.source.sharded and self.fabric.world_size > 1:
            n, rank, size = len(batch), self.fabric.global_rank, self.fabric.world_size
            batch = batch[slice(rank * n // size, (rank + 1) * n // size)]
        device = self.fabric.device
        return batch if batch.x.device == device else batch.to(device)

    def _map_to_sphere(self) -> None:
        unfold = self.config.recipe.unfold
        assert unfold is not None
        assert self.last is not None
        assert isinstance(self.loss, AnInfoNCE)
        with self.watch("fits"):
            x = self.source.fresh(unfold.pairs).x.to(self.fabric.device)
            map_to_sphere(self.embedding, self.last, self.loss, x)
            self._share_fitted()
            # Their moments belong to another parametrisation now.
            for parameter in (self.last.weight, self.last.bias, *self.loss.similarity.parameters()):
                for optimizer in self.optimizers:
                    optimizer.state.pop(parameter, None)
        self.spherical = True

    def _close(self, reporters: Sequence[Reporter]) -> None:
        settings = self.config.recipe.close
        if self.config.closes and settings is not None:
            assert self.last is not None
            assert isinstance(self.loss, AnInfoNCE)
            with self.watch("fits"):
                closed = close(
                    self.embedding, self.last, self.loss, self.source, settings, self.closing_generator
                )
                self._share_fitted()
            self.folding = closed.folding
            self._log(reporters, evaluate=True)
        self.closed = True
        self.model.eval()
        self.save()

    @torch.no_grad()
    def _share_fitted(self) -> None:
        """Let all processes have the first one's values, whatever their own fits found."""
        if self.fabric.world_size > 1:
            assert self.last is not None
            for parameter in (self.last.weight, self.last.bias, *self.loss.parameters()):
                parameter.copy_(self.fabric.broadcast(parameter.detach()))

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
            "batch_size": batch_size_at(self.step - 1, self.config.recipe),
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
        """Hand over what there is."""
        concentration = concentration_of(self.loss)
        return Fitted(
            encoder=self.embedding.eval(),
            loss=self.loss.eval(),
            concentration=None if concentration is None else concentration.cpu().clone(),
            folding=self.folding,
            history=list(self.history),
            config=self.config,
            step=self.step,
            seconds=self.seconds,
            profile=dict(self.watch.seconds),
        )

    # ------------------------------------------------------------------ checkpoints

    def save(self) -> Path | None:
        """Write a checkpoint, if there is a directory to write to; the first process does it."""
        if self.directory is None:
            return None
        if self.fabric.is_global_zero:
            with self.watch("checkpoints"):
                save_snapshot(self.directory, self.step, pack(self))
        self.fabric.barrier()
        return checkpoint_path(self.directory, self.step)

    def restore_newest(self) -> None:
        """Go on from the newest checkpoint that can be read, if there is any."""
        assert self.directory is not None
        found = newest_snapshot(self.directory)
        if found is not None:
            self.restore(found[1])

    def restore(self, snapshot: Snapshot) -> None:
        """Take up the state of a checkpoint."""
        unpack(snapshot, self)
        self._before = float(snapshot.facts["seconds"])

    def _last_good(self) -> Path | None:
        found = None if self.directory is None else newest_snapshot(self.directory)
        return None if found is None else found[0]


def _one_device() -> Fabric:
    from lightning_fabric import Fabric

    fabric = Fabric(accelerator="auto", devices=1)
    fabric.launch()
    return fabric


def _check_batches(source: PairSource, recipe: Recipe) -> None:
    """Refuse a batch that the source cannot give now, not in the middle of the run."""
    largest = max(recipe.batch_size, *(size for _, size in recipe.growth), 0)
    if source.largest_batch is not None and largest > source.largest_batch:
        raise ValueError(
            f"`recipe.batch_size` and `recipe.growth` must be at most {source.largest_batch}, the number of"
            f" pairs at hand, got {largest}"
        )


def _generator(seed: int, stream: int) -> Generator:
    """Random numbers for one purpose, apart from those of the others."""
    return Generator().manual_seed(seed * 1_000_003 + stream)


def _complete(
    config: TrainingConfig,
    process: Any,
    pairs: PairBatch,
    encoder: nn.Module | None,
    loss: nn.Module | None,
) -> TrainingConfig:
    """Fill in what the data and the given modules decide."""
    dim = config.dim or (None if process is None else process.dim)
    if dim is None and encoder is not None:
        with torch.no_grad():
            dim = encoder(pairs.x[:2]).shape[1]
    if dim is None:
        raise ValueError("`dim`, the number of embedding columns, must be given for data that are no process")
    changes: dict[str, Any] = {"dim": dim}
    if encoder is not None:
        changes["encoder"] = config.encoder.model_copy(update={"name": "custom", "options": {}})
    else:
        changes["encoder"] = complete_encoder(config.encoder, pairs.x, dim)
    if loss is not None:
        name = "aninfonce" if isinstance(loss, AnInfoNCE) else "custom"
        changes["loss"] = config.loss.model_copy(update={"name": name, "options": {}})
    return config.model_copy(update=changes)
