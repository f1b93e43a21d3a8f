"""Running the training of an estimator: device, progress bar, Ctrl-C, early stopping and the curves."""

from __future__ import annotations

import copy
import signal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import nn

from aninfonce._seeds import derive_seed
from aninfonce._validation import brief
from aninfonce.alignment.space_choice import choose_space
from aninfonce.encoders import MLP
from aninfonce.encoders.embedding import Embedding, embed_in_chunks, weight_type
from aninfonce.encoders.whitening import Whitening
from aninfonce.estimator.exchanging import ExchangedSource, sides_are_alike
from aninfonce.estimator.frames import Array, Floats, Frames, Index, embed_rows
from aninfonce.estimator.geodesics import start_unrolled
from aninfonce.estimator.pairs import Pairs
from aninfonce.estimator.scoring import bits_of_kinds
from aninfonce.estimator.settings import BENT, linear_settings, own_names, training_config
from aninfonce.estimator.shrinking import shrink_to_linear
from aninfonce.estimator.sources import open_source
from aninfonce.training.config import TrainingConfig
from aninfonce.training.early_stopping import EarlyStopping
from aninfonce.training.errors import SphereFound, TrainingInterrupted
from aninfonce.training.fitted import Fitted
from aninfonce.training.loop import Trainer
from aninfonce.training.progress_bar import ProgressBar

if TYPE_CHECKING:
    from lightning_fabric import Fabric

Curve = tuple[Floats, Index]

# Range of a column, as a share of its mean, below which float32 keeps too few of its digits.
_LEAST_RANGE = 1e-5
# Most held-out pairs that are used during training and to shrink, and most pairs for a geodesic start.
_MOST_WATCHED, _MOST_SHRUNK_BY, _MOST_TO_START = 1024, 4096, 20_000
# No fewer pairs are held out. Even so few keep a network from memorising the others: on 150 pairs of three
# factors, R² is .94 with them and .85 without.
_FEWEST_HELD_OUT = 20


class Trained(NamedTuple):
    """A finished training run and the pairs that it had."""

    fitted: Fitted
    kinds: tuple[Pairs, ...]
    """What was trained on, one or more kinds of pairs."""
    held_out: tuple[Pairs, ...] | None
    stopping: EarlyStopping | None
    linear: Trained | None = None
    """The linear map that a network in flat space started from."""
    residual: float | None = None
    """Of the geodesic start, if there was one."""

    @property
    def looked_at(self) -> tuple[Pairs, ...]:
        """Pairs to describe the outcome by: held-out ones, if there are any."""
        return self.kinds if self.held_out is None else self.held_out


def train(kinds: Sequence[Pairs], parameters: Mapping[str, Any], seed: int) -> Trained:
    """Hold out some of the pairs and train an encoder on the others.

    Args:
        kinds: one or more kinds of pairs.
        parameters: of the estimator, `checked`, with numbers where "auto" may have stood.
        seed: of everything that is random.

    Returns:
        The run.

    """
    held_out: tuple[Pairs, ...] | None = None
    share = parameters["validation_fraction"]
    if share * min(map(len, kinds)) >= _FEWEST_HELD_OUT:
        split = [pairs.hold_out(share, seed) for pairs in kinds]
        if min(len(held) for _, held in split) >= _FEWEST_HELD_OUT // 2:
            kinds, held_out = tuple(rest for rest, _ in split), tuple(held for _, held in split)
    return train_on_kinds(kinds, held_out, parameters, seed)


def train_on_kinds(
    kinds: Sequence[Pairs],
    held_out: tuple[Pairs, ...] | None,
    parameters: Mapping[str, Any],
    seed: int,
    *,
    from_linear: bool = True,
) -> Trained:
    """Train an encoder on all of these pairs, in flat space from a linear map; see `train`."""
    may_memorise = kinds[0].augment is None and held_out is None
    config = training_config(kinds, parameters, seed, few_passes=may_memorise)
    if parameters["n_init"] > 1 and held_out is None:
        raise ValueError(
            f"`n_init` must be 1 where no pairs are held out to choose by, got {parameters['n_init']}"
        )
    encoder, best = parameters["encoder"], None
    if isinstance(encoder, nn.Module):
        _check_encoder(encoder, kinds[0].frames, parameters["n_components"])
    bends = from_linear and held_out is not None and _bends_flat_space(parameters)
    # On a sphere the two sides can differ by less than a test can see; no run from a linear map ends on one.
    flat = bends or parameters["space"] == "flat"
    symmetric = parameters["loss"] == "aninfonce" and parameters["dynamics"] is None
    exchanged = flat and symmetric and len(kinds) == 1 and sides_are_alike(kinds[0])
    # A linear map cannot fold.
    unrolls = parameters["start"] == "geodesic" and parameters["encoder_options"].get("depth") != 0
    for start in range(parameters["n_init"]):
        if start:
            config = config.model_copy(update={"seed": derive_seed(seed, "start", start) % 2**31})
        # A linear map for each start: runs from the same one end in the same place.
        linear = None
        if bends:
            quiet = {**linear_settings(parameters), "verbose": 0}
            linear = train_on_kinds(kinds, held_out, quiet, config.seed)
        run = Run(kinds, config, parameters, held_out, exchanged=exchanged)
        run.trainer.stays_flat = linear is not None
        residual = run.start_unrolled(kinds) if unrolls else None
        if linear is not None and not unrolls:
            run.start_from_linear(linear.fitted)
        try:
            fitted = run.fit()
            if held_out is not None and linear is not None and _is_shell(fitted, held_out[0]):
                raise SphereFound
        except SphereFound:
            # For a sphere behind a mixing that bends, a linear map is a worse start than random weights, and
            # so is a network that bends less: R² .993 instead of .995.
            bent = {**parameters, "encoder_options": {**BENT, **parameters["encoder_options"]}}
            return train_on_kinds(kinds, held_out, bent, seed, from_linear=False)
        trained = Trained(fitted, tuple(kinds), held_out, run.stopping, linear, residual)
        if best is None or _score(trained) > _score(best):
            best = trained
    assert best is not None
    return best


def _bends_flat_space(parameters: Mapping[str, Any]) -> bool:
    """Whether this is the estimator's own network, in a space that has linear maps."""
    is_network = parameters["encoder"] == "mlp" and parameters["encoder_options"].get("depth") != 0
    return is_network and parameters["loss"] == "aninfonce" and parameters["space"] in ("auto", "flat")


def _is_shell(fitted: Fitted, held_out: Pairs) -> bool:
    """Whether the space was left open and is a sphere after all: halfway, a rough shell may look filled."""
    return (
        fitted.choice is not None and choose_space(embed_rows(fitted.encoder, held_out.x)).space == "sphere"
    )


def _score(trained: Trained) -> float:
    return -np.inf if trained.stopping is None else trained.stopping.best_score


class Run:
    """A training run of an estimator on pairs.

    Training is in float32. Inputs that vary little beside their mean would lose the digits in which they
    differ, so whitened inputs are centred first, in float64. The finished encoder takes them as they came.

    Args:
        kinds: pairs to train on, one or more kinds.
        config: all settings.
        parameters: of the estimator: device, progress bar, patience, and a module of the user's own.
        held_out: pairs that decide which weights are kept; None keeps the last ones.
        encoder: a module to train instead of a copy of the user's.
        exchanged: whether to read pairs backwards, too.

    """

    def __init__(
        self,
        kinds: Sequence[Pairs],
        config: TrainingConfig,
        parameters: Mapping[str, Any],
        held_out: Sequence[Pairs] | None = None,
        *,
        encoder: nn.Module | None = None,
        exchanged: bool = False,
    ) -> None:
        frames = kinds[0].frames
        _check_spread(frames)
        mean = frames.mean()
        self.centre: Array | None = mean if config.recipe.whiten else None
        if self.centre is None and frames.rows.ndim == 2:
            _check_digits(frames.rows if frames.gap is None else frames.rows[~frames.gap], mean)
        self.stopping: EarlyStopping | None = None
        self.held_out = held_out
        if held_out is not None:
            watched = [pairs.some(_MOST_WATCHED, config.seed) for pairs in held_out]
            self.stopping = watch(watched, self.centre, parameters["patience"])
        source = open_source(kinds, config.seed, self.centre)
        if encoder is None and isinstance(parameters["encoder"], nn.Module):
            encoder = copy.deepcopy(parameters["encoder"])
        with own_names():
            self.trainer = Trainer(
                ExchangedSource(source, config.seed) if exchanged else source,
                config,
                encoder=encoder,
                fabric=one_device(parameters["device"]),
                reporters=[ProgressBar("ContrastiveICA")] if parameters["verbose"] else [],
                stopping=self.stopping,
            )

    def start_from(self, encoder: Embedding, loss: nn.Module, optimizer_states: list[dict[str, Any]]) -> None:
        """Load the weights of an earlier run and, if known, the states of its optimisers."""
        self.trainer.embedding.load_state_dict(encoder.state_dict())
        self.trainer.loss.load_state_dict(loss.state_dict())
        for optimizer, state in zip(self.trainer.optimizers, optimizer_states, strict=False):
            optimizer.load_state_dict(state)
        self._shift(-1.0)

    @torch.no_grad()
    def start_from_linear(self, fitted: Fitted) -> None:
        """Let a network begin as a linear map that was trained on the same pairs.

        Pairs tell most about the slowest factors. From random weights, the columns of the fast ones fill with
        functions of these first; from a linear map, each factor has its column when the bending begins.
        """
        body, linear = self.trainer.embedding.body, fitted.encoder.body
        if not isinstance(body, MLP) or not isinstance(linear, MLP) or not body.skip:
            return
        last, found = body.layers[-1], linear.layers[-1]
        assert isinstance(last, nn.Linear)
        assert isinstance(found, nn.Linear)
        last.weight.zero_()
        last.weight[:, : body.in_features] = found.weight
        last.bias.copy_(found.bias)
        # The linear map has one Λ̂: a head that gives one for each anchor keeps its random weights.
        self.trainer.loss.load_state_dict(fitted.loss.state_dict(), strict=False)

    def start_unrolled(self, kinds: Sequence[Pairs]) -> float:
        """Start from the geodesics between anchors, and give their residual."""
        seed = self.trainer.config.seed
        some = [pairs.some(_MOST_TO_START, seed).batch(self.centre) for pairs in kinds]
        return start_unrolled(self.trainer.embedding, self.trainer.loss, some, seed)

    def fit(self) -> Fitted:
        """Train to the end; the encoder then takes inputs as they came."""
        try:
            fitted = self.trainer.fit()
        except TrainingInterrupted as stop:
            # There is no checkpoint to resume from: let Ctrl-C do what it does everywhere else.
            if stop.signal == signal.SIGINT:
                raise KeyboardInterrupt from None
            raise
        if self.held_out is not None:
            some = [pairs.some(_MOST_SHRUNK_BY, self.trainer.config.seed) for pairs in self.held_out]
            shrink_to_linear(
                fitted, self.trainer.source, [(pairs.batch(self.centre), pairs.apart) for pairs in some]
            )
        self._shift(1.0)
        return fitted

    def _shift(self, sign: float) -> None:
        inputs = self.trainer.embedding.inputs
        if self.centre is not None:
            assert isinstance(inputs, Whitening)
            inputs.shift(sign * torch.from_numpy(self.centre))


@torch.no_grad()
def _check_encoder(encoder: nn.Module, frames: Frames, columns: int) -> None:
    """Refuse a network that does not turn these rows into the number of columns that was asked for."""
    rows = torch.from_numpy(np.array(frames[np.flatnonzero(frames.usable)[:2]]))
    try:
        embedded = copy.deepcopy(encoder).cpu().eval()(rows.to(weight_type(encoder)))
    except RuntimeError as problem:
        raise ValueError(
            f"`encoder` must take rows of shape (n, {', '.join(map(str, rows.shape[1:]))}): {problem}"
        ) from None
    if not isinstance(embedded, torch.Tensor) or not bool(embedded.isfinite().all()):
        raise ValueError(f"`encoder` must give a tensor of finite numbers (n, d), got {brief(embedded)}")
    found = tuple(embedded.shape)
    if found != (len(rows), columns):
        raise ValueError(
            f"`n_components` must be the number of columns that `encoder` gives, got {columns} and an output"
            f" of shape {found} for {len(rows)} rows"
        )


def _check_spread(frames: Frames) -> None:
    """Refuse sessions in which nothing ever changes."""
    starts = np.flatnonzero(np.diff(frames.session, prepend=-1))
    for number, place in enumerate(np.split(np.arange(len(frames)), starts[1:])):
        whole = slice(place[0], place[-1] + 1)
        rows = frames.rows[whole] if frames.gap is None else frames.rows[whole][~frames.gap[whole]]
        # A session with no rows left is in no pair.
        if len(rows) and (rows == rows[:1]).all():
            which = f"session {number} of `X`" if len(starts) > 1 else "`X`"
            raise ValueError(f"{which} must vary, got {len(rows)} equal rows")


def _check_digits(x: Array, mean: Array) -> None:
    """Refuse columns of which float32 would keep little more than the mean."""
    lost = np.flatnonzero(np.ptp(x, axis=0) < _LEAST_RANGE * np.abs(mean[: x.shape[1]]))
    if len(lost):
        raise ValueError(
            f"`X` must vary by {_LEAST_RANGE:g} of its mean if whiten=False: training is in float32,"
            f" got column {lost[0]} with a mean of {mean.flat[lost[0]]:g}: subtract it"
        )


def watch(held_out: Sequence[Pairs], centre: Array | None, patience: int | None) -> EarlyStopping:
    """Let the bits on held-out pairs decide which weights are kept."""
    kinds = [(pairs.batch(centre), pairs.apart) for pairs in held_out]

    def score(encoder: Embedding, loss: nn.Module) -> float:
        embedded = [
            (embed_in_chunks(encoder, pairs.x), embed_in_chunks(encoder, pairs.x_pos), apart)
            for pairs, apart in kinds
        ]
        return bits_of_kinds(loss, embedded)

    return EarlyStopping(score, patience)


def loss_curve(fitted: Fitted) -> Curve:
    """Give the running mean of the loss, and the steps at which it was logged."""
    rows = [row for row in fitted.history if row["loss"] is not None]
    return _curve([row["loss"] for row in rows], [row["step"] for row in rows])


def held_out_curve(stopping: EarlyStopping | None) -> Curve:
    """Give the held-out scores and their steps; both are empty if nothing was held out."""
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
