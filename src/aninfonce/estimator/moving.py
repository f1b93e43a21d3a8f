"""Linear dynamics of an estimator: decays and oscillators, and where the embedding goes next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from aninfonce._seeds import derive_seed
from aninfonce._validation import check_count
from aninfonce.alignment import LinearModes, linear_modes
from aninfonce.alignment.axes import fix_signs
from aninfonce.alignment.columns import carry_loss, last_layer
from aninfonce.alignment.modes import EARLIER
from aninfonce.encoders.embedding import Embedding, compose_affine
from aninfonce.estimator.describing import Description, blocks_of_columns
from aninfonce.estimator.frames import Floats, Index, embed_columns
from aninfonce.estimator.pairs import Pairs
from aninfonce.losses import LinearDynamics

if TYPE_CHECKING:
    from aninfonce.estimator.contrastive_ica import ContrastiveICA

# Pairs that the operator and its intervals are fitted on, at most.
_MOST_PAIRS = 32_768
# Rows on which a mode's share of what was observed is measured: pictures have many channels.
_SHARE_ROWS = 4_096
# Moduli are kept this far from 0 and 1, between which Λ = φ/(1−φ²) goes from 0 to infinity.
_EDGE = 1e-6


class DynamicsGain(NamedTuple):
    """What linear dynamics tell about held-out pairs beyond simpler guesses, in bits per pair.

    Attributes:
        bits: beyond "no change": positives lie where anchors are, and vary about them.
        error: standard error, by stretches of time.
        turning_bits: beyond decays alone: the same operator without its rotations.
        turning_error: standard error.

    """

    bits: float
    error: float
    turning_bits: float
    turning_error: float


class Mode(NamedTuple):
    """A decay or an oscillator.

    Attributes:
        columns: of the embedding.
        share: of the variance of what was observed (channels on one scale) that a linear readout of the mode
            alone explains.
        frequency: turns per row, or per second if `rate` is given; 0 for a decay.
        frequency_interval: 95 %; a mode is an oscillator if the interval does not reach 0.
        time_constant: time after which it has fallen to 1/e, in rows or seconds.
        time_constant_interval: 95 %.

    """

    columns: tuple[int, ...]
    share: float
    frequency: float
    frequency_interval: tuple[float, float]
    time_constant: float
    time_constant_interval: tuple[float, float]


def _has_dynamics(estimator: Any) -> bool:
    """Hide `predict` unless dynamics were asked for, as scikit-learn expects."""
    if estimator.dynamics is None:
        raise AttributeError("`dynamics` must be 'linear' for predictions, got None")
    return True


class Moving:
    """Methods and properties that linear dynamics bring to an estimator."""

    modes_: LinearModes | None
    mode_shares_: Floats | None
    """Share (d,) of what was observed that each column's mode explains by itself; None without dynamics, or
    if an earlier version saved the estimator."""
    dynamics_gain_: DynamicsGain | None
    lags_: tuple[int, ...]
    rate: float | None

    @property
    def frequencies_(self) -> Floats | None:
        """Turns of each column per row, or per second if `rate` is given, (d,); 0 for decays."""
        return None if self.modes_ is None else self._turns(self.modes_)[:, 0]

    @property
    def frequencies_interval_(self) -> Floats | None:
        """Intervals (d, 2) of `frequencies_`."""
        return None if self.modes_ is None else self._turns(self.modes_)[:, 1:]

    def _turns(self, modes: LinearModes) -> Floats:
        return modes.frequencies(self._step)

    @property
    def _step(self) -> float:
        """Rows, or seconds, from an anchor to its positive."""
        return (self.lags_[0] if self.lags_ else 1.0) / (self.rate or 1.0)

    @property
    def mode_table_(self) -> list[Mode] | None:
        """Decays and oscillators, beginning with the one that explains most of what was observed."""
        if self.modes_ is None or self.mode_shares_ is None:
            return None
        turns, times = self._turns(self.modes_), self.modes_.time_constants(self._step)
        table = []
        for columns in self.modes_.columns:
            (turn, *turn_ends), (time, *time_ends) = turns[columns[0]].tolist(), times[columns[0]].tolist()
            share = float(self.mode_shares_[columns[0]])
            table.append(Mode(tuple(columns.tolist()), share, turn, tuple(turn_ends), time, tuple(time_ends)))
        return sorted(table, key=lambda mode: -mode.share)

    @available_if(_has_dynamics)  # type: ignore[untyped-decorator]
    def predict(self, X: Any, steps: int = 1, *, groups: Any = None) -> Any:
        """Predict where the embedding of each row will be some lags later.

        Args:
            X: as in `fit`.
            steps: number of lags; 0 gives `transform(X)`.
            groups: as in `fit`.

        Returns:
            (N, d), as `transform` gives it.

        """
        from aninfonce.estimator.contrastive_ica import ContrastiveICA

        assert isinstance(self, ContrastiveICA)
        check_is_fitted(self)
        if self.modes_ is None:
            raise ValueError("`dynamics` must be 'linear' when `fit` is called, for predictions: fit again")
        ahead = self.modes_.ahead(check_count(steps, "steps", minimum=0))
        given = self._read(X, groups, reset=False)
        embedded = self._embed(given.frames)
        return given.like_given((embedded @ ahead).astype(embedded.dtype))


def describe_moving(estimator: ContrastiveICA, looked_at: Pairs, trained: Pairs) -> Description:
    """Rotate the columns of an estimator to its modes; its encoder, loss and `modes_` are changed.

    Λ̂ of a column is that of a source that forgets as quickly: φ/(1−φ²) with φ = |λ|. Blocks are columns whose
    modes cannot be told apart.

    Args:
        estimator: trained with `LinearDynamics`.
        looked_at: pairs on which the gain of the dynamics is measured, preferably held-out ones.
        trained: pairs that the modes are fitted on.

    """
    encoder, loss, seed = estimator.encoder_, estimator.loss_, estimator.config_.seed
    assert isinstance(loss, LinearDynamics)
    some = trained.some(_MOST_PAIRS, derive_seed(seed, "modes"))
    some, back = _with_earlier(some)
    h, h_pos = embed_columns(encoder, some.x), embed_columns(encoder, some.x_pos)
    earlier = [embed_columns(encoder, some.frames[rows]) for rows in back]
    modes = linear_modes(
        h,
        h_pos,
        earlier=np.concatenate(earlier, axis=1) if earlier else None,
        clusters=some.clusters,
        seed=derive_seed(seed, "intervals"),
    )
    modes = _with_signs(modes, h, some)
    few = np.linspace(0, len(some) - 1, min(len(some), _SHARE_ROWS)).astype(np.intp)
    estimator.mode_shares_ = modes.shares(h[few], some.take(few).x.reshape(len(few), -1).astype(np.float64))
    fold_modes(encoder, loss, modes, torch.from_numpy(some.x[:8]))
    estimator.modes_ = modes
    estimator.dynamics_gain_ = dynamics_gain(encoder, modes, looked_at.some(_MOST_PAIRS, seed))
    ends = np.concatenate([modes.modulus[:, None], modes.modulus_interval], axis=1).clip(0.0, 1 - _EDGE)
    values = ends / (1 - ends**2)
    blocks = blocks_of_columns(np.stack([modes.modulus_interval, modes.angle_interval]))
    return Description(values[None, :, 0], values[None, :, 1:], blocks, [])


def _with_earlier(pairs: Pairs) -> tuple[Pairs, list[Index]]:
    """Take the pairs of a recording whose anchors have earlier rows, and the numbers (N,) of these rows.

    All pairs and no rows if they are not from a recording, or if sessions are so short that most pairs would
    be lost.
    """
    if pairs.lag is None:
        return pairs, []
    frames = pairs.frames
    back = [pairs.anchors - steps * pairs.lag for steps in EARLIER]
    first = np.searchsorted(frames.session, frames.session[pairs.anchors])
    usable = frames.usable
    known = np.logical_and.reduce([(rows >= first) & usable[rows] for rows in back])
    if 2 * known.sum() < len(pairs):
        return pairs, []
    return pairs.take(known), [rows[known] for rows in back]


def _with_signs(modes: LinearModes, h: Floats, pairs: Pairs) -> LinearModes:
    """Choose signs by the rule of `fix_signs`; a pair gets one sign, or it would turn the other way."""
    signs = fix_signs(torch.from_numpy(modes(h)), torch.from_numpy(pairs.x)).numpy()
    for pair in modes.pairs:
        signs[pair] = signs[pair[0]]
    # The operator is zero between modes, so only the regression changes with their signs.
    regression = signs[:, None] * modes.regression * signs
    return modes._replace(matrix=signs[:, None] * modes.matrix, regression=regression)


@torch.no_grad()
def fold_modes(encoder: Embedding, loss: LinearDynamics, modes: LinearModes, x: Tensor) -> None:
    """Map the columns of an encoder without a head to its modes; its loss keeps its values.

    Both are changed in place; a few observations `x` (n, D) are used to find the last layer.
    """
    last = last_layer(encoder, x, len(modes.centre))
    matrix, centre = (torch.from_numpy(part).to(last.weight.device) for part in (modes.matrix, modes.centre))
    compose_affine(last, matrix, centre)
    carry_loss(loss, matrix, centre)


def pack_moving(estimator: Moving) -> dict[str, Any] | None:
    """Write what is known of the dynamics as lists of numbers; None without dynamics."""
    modes, gain = estimator.modes_, estimator.dynamics_gain_
    if modes is None or gain is None:
        return None
    shares = None if estimator.mode_shares_ is None else estimator.mode_shares_.tolist()
    return {"modes": [part.tolist() for part in modes], "gain": list(gain), "shares": shares}


def unpack_moving(
    facts: dict[str, Any] | None,
) -> tuple[LinearModes | None, DynamicsGain | None, Floats | None]:
    """Undo `pack_moving`; earlier versions saved less, or nothing of the kind."""
    if facts is None:
        return None, None, None
    parts = [np.asarray(part) for part in facts["modes"]]
    if len(parts) < len(LinearModes._fields):
        # Saved before errors of the embedding were told from forgetting: the operator made the predictions.
        parts.append(parts[LinearModes._fields.index("operator")])
    shares = facts.get("shares")
    return LinearModes(*parts), DynamicsGain(*facts["gain"]), None if shares is None else np.asarray(shares)


def dynamics_gain(encoder: Embedding, modes: LinearModes, pairs: Pairs) -> DynamicsGain:
    """Compare predictions of positives, each with normal errors of the covariance seen on these pairs."""
    e, e_pos = embed_columns(encoder, pairs.x), embed_columns(encoder, pairs.x_pos)
    moving, none, decays = (
        _log_density(e_pos - e @ step) for step in (modes.ahead(1), modes.ahead(0), modes.still())
    )
    return DynamicsGain(*_bits(moving - none, pairs), *_bits(moving - decays, pairs))


def _log_density(errors: Floats) -> Floats:
    """Give the normal log-density of each row (N,) under their own second moments, up to a constant."""
    moments = errors.T @ errors / len(errors)
    squares = (errors * np.linalg.solve(moments, errors.T).T).sum(axis=1)
    density: Floats = -0.5 * (squares + np.linalg.slogdet(moments)[1])
    return density


def _bits(nats: Floats, pairs: Pairs) -> tuple[float, float]:
    """Mean and standard error of nats (N,), in bits."""
    stretch = np.arange(len(nats)) if pairs.clusters is None else pairs.clusters
    sums, counts = np.bincount(stretch, nats), np.bincount(stretch)
    mean = float(nats.mean())
    error = float(np.sqrt(((sums - mean * counts) ** 2).sum()) / len(nats))
    return mean / math.log(2), error / math.log(2)
