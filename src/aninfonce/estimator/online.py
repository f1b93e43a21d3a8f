"""Training on pairs that come in parts."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from aninfonce._seeds import derive_seed
from aninfonce.encoders.embedding import WithLinear
from aninfonce.estimator import alerts
from aninfonce.estimator.fitting import Run, held_out_curve, loss_curve
from aninfonce.estimator.settings import checked, draw_seed, online_config, training_config

if TYPE_CHECKING:
    from aninfonce.estimator.contrastive_ica import ContrastiveICA
    from aninfonce.estimator.pairs import Augment


def train_on(
    estimator: ContrastiveICA, X: Any, y: Any, X_pos: Any, groups: Any, augment: Augment | None
) -> None:
    """Continue the training of an estimator; see `ContrastiveICA.partial_fit`."""
    first = not hasattr(estimator, "encoder_")
    parameters = checked(estimator.get_params(deep=False))
    for name in ("n_components", "lag"):
        if parameters[name] == "auto":
            raise ValueError(
                f"`{name}` must be given for partial_fit, which only sees part of the data, got 'auto'"
            )
    if parameters["start"] != "random":
        raise ValueError(
            "`start` must be 'random' for partial_fit, which only sees part of the data, got"
            f" {parameters['start']!r}"
        )
    if parameters["dynamics"] is not None:
        raise ValueError(
            "`dynamics` must be None for partial_fit: a stream has no end at which to find modes"
        )
    if first:
        frames = estimator._read(X, groups, reset=True).frames
        estimator.lag_curve_ = estimator.n_components_curve_ = estimator.nonlinear_gain_ = None
        estimator.start_residual_ = None
        kinds = estimator._make_kinds(frames, y, X_pos, augment, parameters)
        seed = draw_seed(estimator.random_state)
        whole = training_config(kinds, parameters, seed)
    else:
        if parameters["n_components"] != estimator._n_features_out:
            raise ValueError(
                f"`n_components` must stay {estimator._n_features_out} between calls of partial_fit, got"
                f" {parameters['n_components']}"
            )
        kinds = estimator.pairs_like_fit(X, y, X_pos, groups, augment)
        seed, whole = estimator.config_.seed, estimator.config_
    alerts.warn_about_positives(kinds[0])
    # A different order of the pairs in every call.
    step = 0 if first else estimator.n_iter_
    own = derive_seed(seed, "call", step) % 2**31
    config = online_config(whole, len(kinds) * min(map(len, kinds))).model_copy(update={"seed": own})
    encoder = None
    if not first and isinstance(estimator.encoder_.body, WithLinear):
        # `fit` put a layer behind a network that does not end in a linear one.
        encoder = copy.deepcopy(estimator.encoder_.body)
    run = Run(kinds, config, parameters, encoder=encoder)
    if not first:
        run.start_from(estimator.encoder_, estimator.loss_, estimator._optimizer_states)
    fitted = run.fit()
    estimator._optimizer_states = [optimizer.state_dict() for optimizer in run.trainer.optimizers]
    curve, steps = loss_curve(fitted)
    estimator.loss_curve_ = curve if first else np.concatenate([estimator.loss_curve_, curve])
    estimator.loss_steps_ = steps if first else np.concatenate([estimator.loss_steps_, step + steps])
    estimator._keep(fitted, step)
    if first:
        estimator._remember_pairs(kinds)
        estimator.held_out_curve_, estimator.held_out_steps_ = held_out_curve(None)
        estimator.config_ = fitted.config.model_copy(update={"seed": seed, "recipe": whole.recipe})
    estimator._describe(kinds, kinds[0], sort=False)
