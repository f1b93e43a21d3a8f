"""The estimator: nonlinear ICA by contrastive learning, with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import nn

from aninfonce._seeds import derive_seed
from aninfonce._validation import check_count
from aninfonce.estimator import alerts
from aninfonce.estimator.describing import describe
from aninfonce.estimator.embedding import embed_rows, use_concentration
from aninfonce.estimator.fitting import Run, held_out_curve, loss_curve
from aninfonce.estimator.looking import Looking
from aninfonce.estimator.pairs import Array, Augment, Pairs, holds_rows, make_pairs
from aninfonce.estimator.scoring import bits_above_chance
from aninfonce.estimator.settings import asks_for_steps, checked, online_config, training_config
from aninfonce.training.config import Space, TrainingConfig
from aninfonce.training.flat import SpaceChoice
from aninfonce.training.model import Embedding
from aninfonce.training.result import Fitted

_FLOATS = [np.float64, np.float32]
# Of fewer pairs none are held out. Even so few keep a network from learning the others by heart: on 150 pairs
# of three factors, R² is .94 with them and .85 without.
_FEWEST_HELD_OUT = 20


class ContrastiveICA(Looking, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Recover the hidden factors behind paired rows or a time series.

    `fit(X, X_pos)` learns from rows that share their causes, `fit(X, lag=1, groups=None)` from a recording
    whose neighbouring rows do, `fit(X, augment=f)` from rows and random changes of them. `fit(X)` alone takes
    the rows as one recording, `lag=1`. scikit-learn passes targets as `y`: a `y` of the shape of X is taken
    as `X_pos`, so that searches can split pairs; a 1-d `y` is ignored, as by every unsupervised estimator.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> factors = rng.normal(size=(1000, 3))
        >>> factors /= np.linalg.norm(factors, axis=1, keepdims=True)
        >>> X, X_pos = np.tanh(factors), np.tanh(factors + [0.1, 0.2, 0.4] * rng.normal(size=(1000, 3)))
        >>> ica = ContrastiveICA(n_components=3, max_steps=100, random_state=0).fit(X, X_pos)
        >>> ica.transform(X).shape, ica.concentration_.shape, ica.score(X, X_pos) > 1
        ((1000, 3), (3,), True)

    Args:
        n_components: d, columns of the embedding; at least 2 on a sphere.
        space: where the embedding lives: "sphere" as in the papers, "flat" for factors of any distribution,
            "auto" to find out which of the two; "learnable-sphere", "box" or "unbounded".
        loss: "aninfonce", "infonce", "lp" or "nt-xent".
        recipe: "fast", "paper", or a dictionary of `aninfonce.training.Recipe`'s settings.
        max_steps: of the optimiser, at most; the recipe's if None. Where no pairs are held out, None is about
            30 passes over them: beyond that a network learns few pairs by heart.
        batch_size: pairs a step; the recipe's if None. Never more than there are pairs.
        encoder: name of the network.
        encoder_options: of the network, such as `{"width": 256}`.
        loss_options: of the loss, such as `{"temperature": 0.5}`.
        whiten: decorrelate the inputs by a fixed map; "scale" only scales each, for many noisy channels.
        input_dropout: share of the inputs left out at random in every step, against learning noise by heart.
        validation_fraction: of the pairs, held out from training: they decide which weights are kept, and Λ̂
            is theirs. Of a few recordings it is the end of each, of many it is whole ones. Not used where it
            would be fewer than 20 pairs.
        patience: evaluations of the held-out score without a new best before training ends (or moves on to
            the sphere): every 5 steps at first, later every 5 % of them, at least 100 in a run; None for all.
        random_state: draws weights and batches: a number, a `numpy.random.RandomState`, or None.
        device: "auto", "cpu", "cuda", "cuda:1", "mps".
        verbose: 1 shows a progress bar.

    Attributes:
        concentration_: Λ̂ (d,), one number a column of the embedding; ascending after `fit`.
        concentration_interval_: 95 % bootstrap intervals (d, 2).
        blocks_: list of arrays of columns whose intervals overlap: these may still be rotated among each
            other. A block of one column is a factor by itself.
        loss_curve_: running mean of the loss, in nats, at the steps `loss_steps_`.
        held_out_curve_: bits on held-out pairs (see `score`) at the steps `held_out_steps_`; those in flat
            space and those on the sphere cannot be compared. Empty if nothing was held out.
        encoder_: the network, a `torch.nn.Module`.
        loss_: the loss module as it ended.
        config_: all settings of the training run.
        space_: where the embedding lives.
        space_evidence_: why, a `SpaceChoice`; None if `space` was not "auto".
        time_constants_: rows after which a column's autocorrelation has fallen to 1/e, with
            `time_constants_interval_`, for recordings in flat space; None otherwise.
        folded_: whether the sign of a factor seems lost; None if it was not checked.
        n_iter_: steps taken.
        best_step_: whose weights were kept; `n_iter_` if nothing was held out.
        n_features_in_: columns of X.

    References:
        Rusak et al., "InfoNCE: identifying the gap between theory and practice" (2025).

    """

    encoder_: Embedding
    loss_: nn.Module
    config_: TrainingConfig
    blocks_: list[npt.NDArray[np.intp]]
    loss_curve_: npt.NDArray[np.float64]
    loss_steps_: npt.NDArray[np.intp]
    held_out_curve_: npt.NDArray[np.float64]
    held_out_steps_: npt.NDArray[np.intp]
    space_evidence_: SpaceChoice | None
    folded_: bool | None
    n_iter_: int
    best_step_: int
    n_features_in_: int
    _augment: Augment | None

    def __init__(
        self,
        n_components: int = 10,
        *,
        space: Space = "sphere",
        loss: Literal["aninfonce", "infonce", "lp", "nt-xent"] = "aninfonce",
        recipe: str | Mapping[str, Any] = "fast",
        max_steps: int | None = None,
        batch_size: int | None = None,
        encoder: str = "mlp",
        encoder_options: Mapping[str, Any] | None = None,
        loss_options: Mapping[str, Any] | None = None,
        whiten: bool | Literal["scale"] = True,
        input_dropout: float = 0.0,
        validation_fraction: float = 0.15,
        patience: int | None = 20,
        random_state: int | np.random.RandomState | None = None,
        device: str = "auto",
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.space = space
        self.loss = loss
        self.recipe = recipe
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.encoder = encoder
        self.encoder_options = encoder_options
        self.loss_options = loss_options
        self.whiten = whiten
        self.input_dropout = input_dropout
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    # ------------------------------------------------------------------ learning

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        X_pos: Any = None,
        lag: int | None = None,
        groups: Any = None,
        augment: Augment | None = None,
    ) -> Self:
        """Train an encoder on pairs.

        Args:
            X: rows (N, D): anchors, or a recording in the order of time.
            y: positives (N, D), row i belongs to row i of X. A 1-d `y` is ignored.
            X_pos: the same by its own name.
            lag: rows from an anchor to its positive, for a recording; 1 if nothing else is given.
            groups: (N,) labels of the recordings in X; no pair goes from one to another.
            augment: from rows (n, D) to random changes of them (n, D), drawn anew for every batch. Anchors
                stay as they are, so that the encoder meets in training what it will transform.

        Returns:
            The estimator.

        """
        X = validate_data(self, X, dtype=_FLOATS, ensure_min_samples=3)
        parameters = checked(self.get_params(deep=False))
        pairs = make_pairs(X, y, X_pos, lag, groups, augment)
        alerts.warn_about_size(pairs, parameters["n_components"], self.space)
        alerts.warn_about_positives(pairs)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        share, held_out = parameters["validation_fraction"], None
        if share * len(pairs) >= _FEWEST_HELD_OUT:
            pairs, held_out = pairs.hold_out(share, seed)
        by_heart = pairs.augment is None and held_out is None
        config = training_config(parameters, len(pairs), seed, few_passes=by_heart)
        run = Run(pairs, config, self.device, self.verbose, held_out, parameters["patience"])
        fitted = run.fit()
        self._keep(fitted)
        self.lag_, self._augment, self.config_ = pairs.lag, pairs.augment, fitted.config
        self.loss_curve_, self.loss_steps_ = loss_curve(fitted)
        self.held_out_curve_, self.held_out_steps_ = held_out_curve(run.stopping)
        self._optimizer_states: list[dict[str, Any]] = []
        self._describe(pairs if held_out is None else held_out, pairs.x, sort=True)
        if run.stopping is not None:
            self.best_step_ = run.stopping.best_step
            if asks_for_steps(parameters):
                alerts.warn_about_thrown_away(run.stopping, self.n_iter_, config.recipe.steps)
        if held_out is not None:
            # Λ̂ of the pairs that were trained on is too large wherever the network knows them by heart.
            use_concentration(self.loss_, self.concentration_)
        alerts.warn_about_outcome(self)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        X_pos: Any = None,
        lag: int | None = None,
        groups: Any = None,
        augment: Augment | None = None,
    ) -> Self:
        """Train on, one pass over some more pairs; the first call starts from random weights.

        Rates are constant at a tenth of the recipe's, and the sphere is there from the start. A stream has
        no end at which to finish an embedding, so there are no closing fits and columns keep their places:
        `concentration_` is not sorted. Where all data are at hand, `fit` is better.

        Args:
            X: as in `fit`.
            y: as in `fit`.
            X_pos: as in `fit`.
            lag: as in `fit`; that of the first call if not given.
            groups: as in `fit`.
            augment: as in `fit`.

        Returns:
            The estimator.

        """
        first = not hasattr(self, "encoder_")
        parameters = checked(self.get_params(deep=False))
        if first:
            X = validate_data(self, X, dtype=_FLOATS, ensure_min_samples=3)
            pairs = make_pairs(X, y, X_pos, lag, groups, augment)
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            whole = training_config(parameters, len(pairs), seed)
        else:
            pairs = self.pairs_like_fit(X, y, X_pos, lag, groups, augment)
            seed, whole = self.config_.seed, self.config_
        alerts.warn_about_positives(pairs)
        # Another order of the pairs in every call.
        step = 0 if first else self.n_iter_
        own = derive_seed(seed, "call", step) % 2**31
        config = online_config(whole, len(pairs)).model_copy(update={"seed": own})
        run = Run(pairs, config, self.device, self.verbose)
        if not first:
            run.start_from(self.encoder_, self.loss_, self._optimizer_states)
        fitted = run.fit()
        self._optimizer_states = [optimizer.state_dict() for optimizer in run.trainer.optimizers]
        curve, steps = loss_curve(fitted)
        self.loss_curve_ = curve if first else np.concatenate([self.loss_curve_, curve])
        self.loss_steps_ = steps if first else np.concatenate([self.loss_steps_, step + steps])
        self._keep(fitted, step)
        if first:
            self.lag_, self._augment = pairs.lag, pairs.augment
            self.held_out_curve_, self.held_out_steps_ = held_out_curve(None)
            self.config_ = fitted.config.model_copy(update={"seed": seed, "recipe": whole.recipe})
        self._describe(pairs, pairs.x, sort=False)
        return self

    def _keep(self, fitted: Fitted, before: int = 0) -> None:
        self.encoder_, self.loss_, self.folded_ = fitted.encoder, fitted.loss, fitted.folded
        self.space_evidence_ = fitted.choice
        self.space_ = fitted.config.space if fitted.choice is None else fitted.choice.space
        self.n_iter_ = self.best_step_ = before + fitted.step
        self._n_features_out = fitted.config.dim

    def _describe(self, pairs: Pairs, rows: Array, *, sort: bool) -> None:
        found = describe(self.encoder_, self.loss_, self.space_, pairs, rows, self.config_.seed, sort=sort)
        self.concentration_, self.concentration_interval_, self.blocks_ = found

    # ------------------------------------------------------------------ using

    def transform(self, X: Any, batch_size: int = 8192) -> Array:
        """Embed rows, a batch at a time, so that X may be a memory map of any length.

        Args:
            X: (N, D).
            batch_size: rows at once.

        Returns:
            (N, d) in the precision of X: float64 is computed in float64, also by an encoder that was trained
            in float32.

        """
        check_is_fitted(self)
        check_count(batch_size, "batch_size")
        X = validate_data(self, X, reset=False, dtype=_FLOATS)
        return embed_rows(self.encoder_, X, batch_size=batch_size, exact=X.dtype == np.float64).cpu().numpy()

    def score(
        self,
        X: Any,
        y: Any = None,
        *,
        X_pos: Any = None,
        lag: int | None = None,
        groups: Any = None,
        augment: Augment | None = None,
    ) -> float:
        """Bits by which positives are told from negatives better than by guessing.

        Every anchor meets its positive and 511 other anchors (all of them, if there are fewer): 0 is
        guessing, 9 the most, and a model that is sure of wrong answers is below 0. Scores can be compared
        between models on the same rows. Give rows that were not trained on.

        Args:
            X: as in `fit`.
            y: as in `fit`.
            X_pos: as in `fit`.
            lag: as in `fit`; if nothing is given, pairs are made as they were for `fit`.
            groups: as in `fit`.
            augment: as in `fit`.

        Returns:
            Bits a pair.

        """
        check_is_fitted(self)
        pairs = self.pairs_like_fit(X, y, X_pos, lag, groups, augment)
        z, z_pos = embed_rows(self.encoder_, pairs.x), embed_rows(self.encoder_, pairs.x_pos)
        return bits_above_chance(self.loss_, z, z_pos, apart=pairs.apart)

    def pairs_like_fit(
        self,
        X: Any,
        y: Any = None,
        X_pos: Any = None,
        lag: int | None = None,
        groups: Any = None,
        augment: Augment | None = None,
    ) -> Pairs:
        """Make pairs of new rows; if nothing says how, as `fit` did."""
        X = validate_data(self, X, reset=False, dtype=_FLOATS)
        if X_pos is None and not holds_rows(y) and lag is None and augment is None:
            lag, augment = self.lag_, self._augment
            if lag is None and augment is None:
                raise ValueError("the positives of X are needed, as `fit` had them: give X_pos or `augment`")
        return make_pairs(X, y, X_pos, lag, groups, augment)

    # ------------------------------------------------------------------ keeping

    def save(self, path: str | Path) -> Path:
        """Write the fitted estimator as a folder of safetensors and JSON; see `load`.

        Args:
            path: of the folder; one that holds something other than a saved estimator is refused.

        Returns:
            The path.

        """
        from aninfonce.estimator.storage import save_estimator

        check_is_fitted(self)
        return save_estimator(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, *, device: str = "cpu") -> Self:
        """Read a saved estimator; nothing in the files is executed.

        Args:
            path: of the folder.
            device: where the encoder is put, whatever device it was trained on.

        Returns:
            The fitted estimator.

        """
        from aninfonce.estimator.storage import load_estimator

        estimator = load_estimator(cls, Path(path), torch.device(device))
        assert isinstance(estimator, cls)
        return estimator

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the augmentation: functions often cannot be pickled, and `score` can be given one."""
        state: dict[str, Any] = super().__getstate__()
        if state.get("_augment") is not None:
            state = {**state, "_augment": None}
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "blocks_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
