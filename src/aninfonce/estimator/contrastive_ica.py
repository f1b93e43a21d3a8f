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

from aninfonce._validation import check_count, check_number
from aninfonce.diagnostics.concentration import fit_concentration, shared_blocks
from aninfonce.estimator.embedding import embed_rows, permute_columns
from aninfonce.estimator.fitting import loss_curve, open_trainer, train
from aninfonce.estimator.pairs import Array, Augment, Pairs, holds_rows, make_pairs
from aninfonce.estimator.scoring import bits_above_chance
from aninfonce.estimator.settings import online_config, training_config
from aninfonce.losses import AnInfoNCE
from aninfonce.similarities import Anisotropic
from aninfonce.training.config import TrainingConfig
from aninfonce.training.model import Embedding
from aninfonce.training.result import Fitted
from aninfonce.training.unfold import set_concentration

_FLOATS = [np.float64, np.float32]
# Held-out pairs below this are too few to say anything about Λ̂: all pairs are used then.
_FEWEST_HELD_OUT = 100
# Pairs that Λ̂ and its intervals are fitted on, at most.
_MOST_FOR_INTERVALS = 8192
# Λ̂ of a column along which pairs share nothing: its logarithm is kept from running away.
_SMALLEST = 0.05


class ContrastiveICA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Recover the hidden factors behind paired rows or a time series.

    `fit(X, X_pos)` learns from rows that share their causes, `fit(X, lag=1, groups=None)` from a recording
    whose neighbouring rows do, `fit(X, augment=f)` from rows and random changes of them. `fit(X)` alone takes
    the rows as one recording, `lag=1`. scikit-learn passes targets as `y`: a `y` of the shape of X is taken
    as `X_pos`, so that searches can split pairs; a 1-d `y` is ignored, as by every unsupervised estimator.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> factors = rng.normal(size=(600, 3))
        >>> X, X_pos = np.tanh(factors), np.tanh(factors + 0.1 * rng.normal(size=(600, 3)))
        >>> ica = ContrastiveICA(n_components=3, max_steps=50, random_state=0).fit(X, X_pos)
        >>> ica.transform(X).shape, ica.concentration_.shape, ica.score(X, X_pos) > 1
        ((600, 3), (3,), True)

    Args:
        n_components: d, columns of the embedding, at least 2.
        space: where the embedding lives: "sphere", "learnable-sphere", "box" or "unbounded".
        loss: "aninfonce", "infonce", "lp" or "nt-xent".
        recipe: "fast", "paper", or a dictionary of `aninfonce.training.Recipe`'s settings.
        max_steps: of the optimiser; if None the recipe's, but not more than about 30 passes over the pairs:
            beyond that a network learns few pairs by heart.
        batch_size: pairs a step; the recipe's if None. Never more than there are pairs.
        encoder: name of the network.
        encoder_options: of the network, such as `{"width": 256}`.
        loss_options: of the loss, such as `{"temperature": 0.5}`.
        whiten: decorrelate the inputs first, by a fixed map that is part of the encoder.
        validation_fraction: of the pairs that are not trained on, so that Λ̂ and its intervals are read where
            nothing was fitted. Not used where it would be fewer than 100 pairs.
        random_state: draws weights and batches: a number, a `numpy.random.RandomState`, or None.
        device: "auto", "cpu", "cuda", "cuda:1", "mps".
        verbose: 1 shows a progress bar.

    Attributes:
        concentration_: Λ̂ (d,), one number a column of the embedding; ascending after `fit`.
        concentration_interval_: 95 % bootstrap intervals (d, 2).
        blocks_: list of arrays of columns whose intervals overlap: these may still be rotated among each
            other. A block of one column is a factor by itself.
        loss_curve_: running mean of the loss, in nats, at the steps `loss_steps_`.
        encoder_: the network, a `torch.nn.Module`.
        loss_: the loss module as it ended.
        config_: all settings of the training run.
        folded_: whether the sign of a factor seems lost; None if it was not checked.
        n_iter_: steps taken.
        n_features_in_: columns of X.

    References:
        Rusak et al., "InfoNCE: identifying the gap between theory and practice" (2025).

    """

    encoder_: Embedding
    loss_: nn.Module
    config_: TrainingConfig
    concentration_: npt.NDArray[np.float64]
    concentration_interval_: npt.NDArray[np.float64]
    blocks_: list[npt.NDArray[np.intp]]
    loss_curve_: npt.NDArray[np.float64]
    loss_steps_: npt.NDArray[np.intp]
    folded_: bool | None
    n_iter_: int
    n_features_in_: int
    lag_: int | None

    def __init__(
        self,
        n_components: int = 10,
        *,
        space: Literal["sphere", "learnable-sphere", "box", "unbounded"] = "sphere",
        loss: Literal["aninfonce", "infonce", "lp", "nt-xent"] = "aninfonce",
        recipe: str | Mapping[str, Any] = "fast",
        max_steps: int | None = None,
        batch_size: int | None = None,
        encoder: str = "mlp",
        encoder_options: Mapping[str, Any] | None = None,
        loss_options: Mapping[str, Any] | None = None,
        whiten: bool = True,
        validation_fraction: float = 0.15,
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
        self.validation_fraction = validation_fraction
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
        pairs = make_pairs(X, y, X_pos, lag, groups, augment)
        if not 0.0 <= check_number(self.validation_fraction, "validation_fraction") < 1.0:
            raise ValueError(f"`validation_fraction` must lie in [0, 1), got {self.validation_fraction!r}")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        held_out: Pairs | None = None
        if self.validation_fraction * len(pairs) >= _FEWEST_HELD_OUT:
            pairs, held_out = pairs.hold_out(self.validation_fraction, seed)
        config = training_config(
            self.get_params(deep=False), len(pairs), seed, endless=pairs.augment is not None
        )
        fitted = train(open_trainer(pairs, config, self.device, self.verbose))
        self._keep(fitted, pairs)
        self.loss_curve_, self.loss_steps_ = loss_curve(fitted)
        self.config_ = fitted.config
        self._optimizer_states: list[dict[str, Any]] = []
        self._describe(pairs if held_out is None else held_out, sort=True)
        if held_out is not None and isinstance(self.loss_, AnInfoNCE):
            # Λ̂ of the pairs that were trained on is too large wherever the network knows them by heart.
            assert isinstance(self.loss_.similarity, Anisotropic)
            found = torch.from_numpy(self.concentration_).clamp_min(_SMALLEST)
            set_concentration(self.loss_.similarity, found)
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
        X = validate_data(self, X, reset=first, dtype=_FLOATS, ensure_min_samples=3)
        pairs = make_pairs(X, y, X_pos, lag, groups, augment)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1)) if first else self.config_.seed
        whole = training_config(self.get_params(deep=False), len(pairs), seed) if first else self.config_
        # Another order of the pairs in every call.
        step = 0 if first else self.n_iter_
        config = online_config(whole, len(pairs)).model_copy(update={"seed": (seed + step) % 2**31})
        trainer = open_trainer(pairs, config, self.device, self.verbose)
        if not first:
            trainer.embedding.load_state_dict(self.encoder_.state_dict())
            trainer.loss.load_state_dict(self.loss_.state_dict())
            for optimizer, state in zip(trainer.optimizers, self._optimizer_states, strict=False):
                optimizer.load_state_dict(state)
        fitted = train(trainer)
        self._optimizer_states = [optimizer.state_dict() for optimizer in trainer.optimizers]
        curve, steps = loss_curve(fitted)
        self.loss_curve_ = curve if first else np.concatenate([self.loss_curve_, curve])
        self.loss_steps_ = steps if first else np.concatenate([self.loss_steps_, step + steps])
        self._keep(fitted, pairs)
        self.n_iter_ += step
        if first:
            self.config_ = fitted.config.model_copy(update={"seed": seed, "recipe": whole.recipe})
        self._describe(pairs, sort=False)
        return self

    def _keep(self, fitted: Fitted, pairs: Pairs) -> None:
        self.lag_, self._augment = pairs.lag, pairs.augment
        self.encoder_, self.loss_ = fitted.encoder, fitted.loss
        self.folded_, self.n_iter_ = fitted.folded, fitted.step
        self._n_features_out = fitted.config.dim

    def _describe(self, pairs: Pairs, *, sort: bool) -> None:
        """Fit Λ̂ and its intervals on the frozen embedding; bring the columns into its order if asked."""
        pairs = pairs.take(np.arange(min(len(pairs), _MOST_FOR_INTERVALS)))
        z, z_pos = embed_rows(self.encoder_, pairs.x), embed_rows(self.encoder_, pairs.x_pos)
        found = fit_concentration(z, z_pos, clusters=pairs.clusters)
        order = np.argsort(found.values, kind="stable") if sort else np.arange(len(found.values))
        if sort:
            permute_columns(self.encoder_, self.loss_, order, torch.from_numpy(pairs.x[:8]))
        self.concentration_ = found.values[order]
        self.concentration_interval_ = found.interval[order]
        self.blocks_ = shared_blocks(self.concentration_interval_)

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
        return bits_above_chance(self.loss_, z, z_pos)

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
