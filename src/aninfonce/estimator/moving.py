"""What an estimator with linear dynamics knows: decays and oscillators, and where the latents go next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from aninfonce._seeds import derive_seed
from aninfonce._validation import check_count
from aninfonce.alignment import LinearModes, linear_modes
from aninfonce.alignment.axes import fix_signs
from aninfonce.alignment.map_to_sphere import carry_potentials
from aninfonce.encoders.embedding import Embedding, compose_affine, ensure_final_linear, final_linear
from aninfonce.estimator.columns import embed_rows
from aninfonce.estimator.describing import Description, blocks_of_kinds
from aninfonce.estimator.pairs import Pairs
from aninfonce.losses import LinearDynamics
from aninfonce.similarities import LinearStep

if TYPE_CHECKING:
    from aninfonce.estimator.contrastive_ica import ContrastiveICA

Floats = npt.NDArray[np.float64]

# Pairs that the operator and its intervals are fitted on, at most.
_MOST_PAIRS = 32_768
# Moduli are kept this far from 0 and 1, between which Λ = φ/(1−φ²) goes from 0 to infinity.
_EDGE = 1e-6


class DynamicsGain(NamedTuple):
    """What linear dynamics tell about held-out pairs beyond simpler guesses, in bits a pair.

    Attributes:
        bits: beyond "no change": positives lie where anchors are, and vary about them.
        error: standard error, by stretches of time.
        turning_bits: beyond decays alone, the same operator with nothing that turns.
        turning_error: standard error.

    """

    bits: float
    error: float
    turning_bits: float
    turning_error: float


def _has_dynamics(estimator: Any) -> bool:
    """Let an estimator have predictions only where it is asked for dynamics, as scikit-learn expects."""
    if estimator.dynamics is None:
        raise AttributeError("`dynamics` must be 'linear' for predictions, got None")
    return True


class Moving:
    """Methods and properties that linear dynamics bring to an estimator.

    Attributes:
        modes_: how each column moves; None without dynamics.
        dynamics_gain_: what that tells about held-out pairs; None without dynamics.
        lags_: rows from an anchor to its positive, (1,); none if the pairs are of no recording.
        rate: rows a second; None for time in rows.

    """

    modes_: LinearModes | None
    dynamics_gain_: DynamicsGain | None
    lags_: tuple[int, ...]
    rate: float | None

    @property
    def frequencies_(self) -> Floats | None:
        """Turns of each column in a row of time, or in a second if `rate` is given, (d,); 0 for decays."""
        return None if self.modes_ is None else self._turns(self.modes_)[:, 0]

    @property
    def frequencies_interval_(self) -> Floats | None:
        """Intervals (d, 2) of `frequencies_`."""
        return None if self.modes_ is None else self._turns(self.modes_)[:, 1:]

    def _turns(self, modes: LinearModes) -> Floats:
        return modes.frequencies(self.lags_[0] if self.lags_ else 1.0) * (self.rate or 1.0)

    @available_if(_has_dynamics)  # type: ignore[untyped-decorator]
    def predict(self, X: Any, steps: int = 1, *, groups: Any = None) -> Any:
        """Predict where the embedding of each row will be, some lags later.

        Args:
            X: as in `fit`.
            steps: of one lag each; 0 gives `transform(X)`.
            groups: as in `fit`.

        Returns:
            (N, d), as `transform` gives it.

        """
        from aninfonce.estimator.contrastive_ica import ContrastiveICA

        assert isinstance(self, ContrastiveICA)
        check_is_fitted(self)
        if self.modes_ is None:
            raise ValueError("`dynamics` must be 'linear' when `fit` is called for predictions: fit again")
        ahead = np.linalg.matrix_power(self.modes_.operator, check_count(steps, "steps", minimum=0))
        given = self._read(X, groups, reset=False)
        embedded = self._embed(given.frames)
        return given.like_given((embedded @ ahead).astype(embedded.dtype))


def describe_moving(estimator: ContrastiveICA, looked_at: Pairs, trained: Pairs) -> Description:
    """Bring the columns of an estimator to its modes; encoder, loss and `modes_` are set.

    Λ̂ of a column is that of a source which forgets as quickly: φ/(1−φ²) with φ = |λ|.

    Args:
        estimator: trained with `LinearDynamics`.
        looked_at: pairs that tell what the dynamics are good for, best such that were not trained on.
        trained: pairs that the modes are fitted on.

    Returns:
        Λ̂ (1, d), its intervals, and blocks of columns whose modes cannot be told apart.

    """
    encoder, loss, seed = estimator.encoder_, estimator.loss_, estimator.config_.seed
    assert isinstance(loss, LinearDynamics)
    some = trained.some(_MOST_PAIRS, derive_seed(seed, "modes"))
    h, h_pos = (embed_rows(encoder, x).double().cpu().numpy() for x in (some.x, some.x_pos))
    modes = linear_modes(h, h_pos, clusters=some.clusters, seed=derive_seed(seed, "intervals"))
    modes = _with_signs(modes, h, some)
    fold_modes(encoder, loss, modes, torch.from_numpy(some.x[:8]))
    estimator.modes_ = modes
    estimator.dynamics_gain_ = dynamics_gain(encoder, modes, looked_at.some(_MOST_PAIRS, seed))
    ends = np.concatenate([modes.modulus[:, None], modes.modulus_interval], axis=1).clip(0.0, 1 - _EDGE)
    values = ends / (1 - ends**2)
    blocks = blocks_of_kinds(np.stack([modes.modulus_interval, modes.angle_interval]))
    return Description(values[None, :, 0], values[None, :, 1:], blocks, [])


def _with_signs(modes: LinearModes, h: Floats, pairs: Pairs) -> LinearModes:
    """Choose signs by the rule of `fix_signs`; those of a pair together, or it would turn the other way."""
    signs = fix_signs(torch.from_numpy(modes(h)), torch.from_numpy(pairs.x)).numpy()
    for pair in modes.pairs:
        signs[pair] = signs[pair[0]]
    return modes._replace(matrix=signs[:, None] * modes.matrix)


@torch.no_grad()
def fold_modes(encoder: Embedding, loss: LinearDynamics, modes: LinearModes, x: Tensor) -> None:
    """Let an encoder give the columns of its modes, and its loss the same values; both change in place.

    Args:
        encoder: without a head; gets a linear layer if it does not end in one.
        loss: that goes with it.
        modes: of its embedding.
        x: a few observations (n, D), to find the last layer with.

    """
    weight = next(encoder.parameters())
    few = encoder.inputs(x.to(weight))
    encoder.body = ensure_final_linear(encoder.body, few, len(modes.centre)).to(weight.device)
    last = final_linear(encoder.body, few)
    assert last is not None
    matrix, centre = (torch.from_numpy(part).to(weight.device) for part in (modes.matrix, modes.centre))
    compose_affine(last, matrix, centre)
    carry_potentials(loss, matrix, centre)
    assert isinstance(loss.similarity, LinearStep)
    loss.similarity.change_columns(matrix, centre)


def pack_moving(estimator: Moving) -> dict[str, Any] | None:
    """Give what is known of the dynamics as lists of numbers; None without dynamics."""
    modes, gain = estimator.modes_, estimator.dynamics_gain_
    if modes is None or gain is None:
        return None
    return {"modes": [part.tolist() for part in modes], "gain": list(gain)}


def unpack_moving(facts: dict[str, Any] | None) -> tuple[LinearModes | None, DynamicsGain | None]:
    """Undo `pack_moving`; earlier versions saved nothing of the kind."""
    if facts is None:
        return None, None
    return LinearModes(*map(np.asarray, facts["modes"])), DynamicsGain(*facts["gain"])


def dynamics_gain(encoder: Embedding, modes: LinearModes, pairs: Pairs) -> DynamicsGain:
    """Compare predictions of positives, each with normal errors of the spread that they have on these pairs.

    Args:
        encoder: whose columns are the modes.
        modes: their operator.
        pairs: best such that were not trained on.

    Returns:
        Bits a pair.

    """
    e, e_pos = (embed_rows(encoder, x).double().cpu().numpy() for x in (pairs.x, pairs.x_pos))
    still = 0.5 * (modes.operator + modes.operator.T)
    moving, none, decays = (
        _log_density(e_pos - e @ operator) for operator in (modes.operator, np.eye(e.shape[1]), still)
    )
    return DynamicsGain(*_bits(moving - none, pairs), *_bits(moving - decays, pairs))


def _log_density(errors: Floats) -> Floats:
    """Give the normal log-density of each row (N,), by their own second moments, up to a constant."""
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
