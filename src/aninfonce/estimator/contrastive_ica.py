"""The estimator: nonlinear ICA by contrastive learning, with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from torch import nn

from aninfonce._validation import check_count
from aninfonce.alignment.columns import use_concentration
from aninfonce.alignment.space_choice import SpaceChoice, look_for_box
from aninfonce.encoders.embedding import Embedding
from aninfonce.estimator import alerts
from aninfonce.estimator.by_row import ByRow
from aninfonce.estimator.choosing import ChoiceCurve, NonlinearGain, choose_columns, no_worse_than_linear
from aninfonce.estimator.describing import describe, sixth_moments, times_of_columns
from aninfonce.estimator.fitting import held_out_curve, loss_curve, train
from aninfonce.estimator.frames import Array, Floats, Frames, Index, embed_rows
from aninfonce.estimator.looking import Looking
from aninfonce.estimator.moving import Moving, describe_moving
from aninfonce.estimator.online import train_on
from aninfonce.estimator.pairing import Pairing
from aninfonce.estimator.pairs import Augment, Pairs
from aninfonce.estimator.refitting import refit
from aninfonce.estimator.scoring import bits_of_kinds
from aninfonce.estimator.session_output import SessionOutput
from aninfonce.estimator.settings import asks_for_steps, checked, draw_seed, linear_settings
from aninfonce.estimator.storage import Storage
from aninfonce.training.config import Space, TrainingConfig
from aninfonce.training.fitted import Fitted

# Λ̂ of a column along which pairs share nothing: its logarithm is kept from running away.
_SMALLEST = 0.05


class ContrastiveICA(
    SessionOutput,
    ByRow,
    Storage,
    Looking,
    Moving,
    Pairing,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Recover the hidden factors behind paired rows or a recording.

    `fit(X, X_pos)` learns from rows that share their causes, `fit(X)` from a recording whose neighbouring
    rows do, `fit(X, augment=f)` from rows and random changes of them. Several sessions come as a list of
    arrays, or as one array with their labels as `groups`. scikit-learn passes targets as `y`: a `y` of the
    shape of X is taken as `X_pos`, so that searches can split pairs; a 1-d `y` is ignored, as every
    unsupervised estimator ignores it.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> factors = rng.normal(size=(1000, 3))
        >>> noise = rng.normal(size=(1000, 3))
        >>> X, X_pos = np.tanh(factors), np.tanh(factors + [0.1, 0.2, 0.4] * noise)
        >>> ica = ContrastiveICA(n_components=3, max_steps=100, random_state=0).fit(X, X_pos)
        >>> ica.transform(X).shape, ica.concentration_.shape, ica.score(X, X_pos) > 1
        ((1000, 3), (3,), True)

    Args:
        n_components: d, columns of the embedding; at least 2 on a sphere. "auto" tries larger and larger
            numbers, and keeps the smallest whose held-out score is within two standard errors of the best.
        space: where the embedding lives: "flat" for factors of any distribution, "sphere" as in the papers,
            or "auto" to find out; "learnable-sphere", "box" or "unbounded" for the heads of the papers.
        lag: rows from an anchor to its positive, where X is a recording. Several lags have a Λ̂ each and share
            the axes. "auto" takes the longest over which most of the recording is still remembered; None the
            shortest: 1, or the window.
        window: odd number of rows around each row that the encoder sees at once, where a single row does not
            tell enough.
        gaps: "skip" leaves rows with NaN out of all pairs and windows, and gives them back as NaN.
        rate: rows per second, to give time constants in seconds.
        loss: "aninfonce", "infonce", "lp" or "nt-xent".
        concentration: "one" Λ̂ for all pairs, or "per-anchor": `concentration_at` then gives that of each row,
            and `concentration_` is the best single one. In flat space if `space` is "auto".
        dynamics: "linear" for recordings in which something rotates: columns are then decays and oscillators,
            `predict` says where the embedding goes, and `modes_` how. None for factors that do not rotate.
        recipe: "fast", "paper", or a dictionary of `aninfonce.training.Recipe`'s settings.
        max_steps: of the optimiser, at most; the recipe's if None. Where no pairs are held out, None is about
            30 passes over them: beyond that a network memorises a small set of pairs.
        batch_size: pairs per step; the recipe's if None. Never more than there are pairs.
        encoder: name of the network, or a `torch.nn.Module` of your own from (n, ...) to (n, d). Training
            starts from its weights, and changes a copy.
        encoder_options: of the network, such as `{"width": 256}`.
        loss_options: of the loss, such as `{"temperature": 0.5}`.
        whiten: "scale" brings all inputs to one scale; True decorrelates them too, which may help with few
            noise-free channels, and amplifies noise.
        input_dropout: share of the inputs left out at random in every step, so that noise is not memorised.
        validation_fraction: share of the pairs that is held out of training: they decide which weights are
            kept, and Λ̂ is fitted on them. With a few sessions it is the end of each, with many it is whole
            ones. Nothing is held out where that would be fewer than 20 pairs.
        patience: evaluations of the held-out score without a new best before training ends (or moves on to
            the sphere): every 5 steps at first, later every 5 % of them, at least 100 in a run. None never
            ends early.
        start: "random" weights, or "geodesic": the encoder is first fitted to rows unrolled by the lengths of
            paths through neighbours (Isomap). For maps of few factors that fold from random weights.
        n_init: runs from different random weights, of which the one with the best held-out score is kept.
        refits: further runs from other seeds, whose spread widens the intervals of Λ̂.
        random_state: draws weights and batches: a number, a `numpy.random.RandomState`, or None.
        device: "auto", "cpu", "cuda", "cuda:1", "mps".
        verbose: 1 shows a progress bar.

    Attributes:
        concentration_: Λ̂ (d,), one number per column of the embedding; ascending after `fit`. With several
            lags, that of the first; `concentrations_` (L, d) has all.
        concentration_interval_: 95 % intervals (d, 2) of what the pairs say about this embedding; with
            `refits`, also of what another run would find, but not of what all runs get wrong alike.
            `concentrations_interval_` (L, d, 2) has all lags.
        blocks_: list of arrays of columns whose intervals overlap: these may still be rotated among
            themselves. A block of one column is a factor by itself.
        separated_: columns that share a Λ̂ and were told apart by being independent and not Gaussian.
        loss_curve_: running mean of the loss, in nats, at the steps `loss_steps_`.
        held_out_curve_: bits on held-out pairs (see `score`) at the steps `held_out_steps_`; those in flat
            space and those on the sphere cannot be compared. Empty if nothing was held out.
        encoder_: the network, a `torch.nn.Module`.
        loss_: the loss module as it ended.
        config_: all settings of the training run.
        space_: where the embedding lives; "box" is flat with uniform columns.
        space_evidence_: why, a `SpaceChoice`; None if `space` was not "auto".
        lag_: the lag, or several; None if X was not a recording.
        time_constants_: time after which a column's autocorrelation has fallen to 1/e, in rows or seconds,
            with `time_constants_interval_`, for recordings in flat space. Errors that differ from row to row
            do not count here; they make Λ̂ of a slow column too small.
        n_components_curve_: the score of each number of columns; None if the number was given.
        lag_curve_: correlation of rows with those some lags later; None if the lag was given.
        nonlinear_gain_: a `NonlinearGain`: bits by which the network is ahead of a linear map on held-out
            pairs. If the lead is not clear, the linear map is kept (`nonlinear_gain_.linear`). None where
            there is nothing to compare.
        start_residual_: share of the variance of path lengths that the geodesic start does not explain; above
            about .1, rows do not lie on a sheet of d columns. None without such a start.
        modes_: `aninfonce.alignment.LinearModes`, how each column moves; None without `dynamics`.
        frequencies_: turns of each column per row, or per second; 0 for decays. With
            `frequencies_interval_`.
        mode_table_: a `Mode` for each decay and oscillator, the one that explains most of X first.
        dynamics_gain_: bits that linear dynamics tell about held-out pairs beyond "no change".
        refit_agreement_: R² between this embedding and those of `refits`, one number per run.
        folded_: whether the sign of a factor seems lost; None if it was not checked.
        n_iter_: steps taken.
        best_step_: the step whose weights were kept; `n_iter_` if nothing was held out.
        n_features_in_: columns of X.

    References:
        Rusak et al., "InfoNCE: identifying the gap between theory and practice" (2025).

    """

    encoder_: Embedding
    loss_: nn.Module
    config_: TrainingConfig
    blocks_: list[Index]
    separated_: list[Index]
    loss_curve_: Floats
    loss_steps_: Index
    held_out_curve_: Floats
    held_out_steps_: Index
    space_evidence_: SpaceChoice | None
    n_components_curve_: ChoiceCurve | None
    nonlinear_gain_: NonlinearGain | None
    start_residual_: float | None
    refit_agreement_: Floats
    folded_: bool | None
    n_iter_: int
    best_step_: int
    n_features_in_: int

    def __init__(
        self,
        n_components: int | Literal["auto"] = 10,
        *,
        space: Space = "auto",
        lag: int | Sequence[int] | Literal["auto"] | None = None,
        window: int = 1,
        gaps: Literal["error", "skip"] = "error",
        rate: float | None = None,
        loss: Literal["aninfonce", "infonce", "lp", "nt-xent"] = "aninfonce",
        concentration: Literal["one", "per-anchor"] = "one",
        dynamics: Literal["linear"] | None = None,
        recipe: str | Mapping[str, Any] = "fast",
        max_steps: int | None = None,
        batch_size: int | None = None,
        encoder: str | nn.Module = "mlp",
        encoder_options: Mapping[str, Any] | None = None,
        loss_options: Mapping[str, Any] | None = None,
        whiten: bool | Literal["scale"] = "scale",
        input_dropout: float = 0.0,
        validation_fraction: float = 0.15,
        patience: int | None = 20,
        start: Literal["random", "geodesic"] = "random",
        n_init: int = 1,
        refits: int = 0,
        random_state: int | np.random.RandomState | None = None,
        device: str = "auto",
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.space = space
        self.lag = lag
        self.window = window
        self.gaps = gaps
        self.rate = rate
        self.loss = loss
        self.concentration = concentration
        self.dynamics = dynamics
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
        self.start = start
        self.n_init = n_init
        self.refits = refits
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        X_pos: Any = None,
        groups: Any = None,
        augment: Augment | None = None,
    ) -> Self:
        """Train an encoder on pairs.

        Args:
            X: rows (N, D) or pictures (N, C, H, W): anchors, or a recording in the order of time; or a list
                of such recordings, the sessions.
            y: positives of the shape of X; row i belongs to row i of X. A 1-d `y` is ignored.
            X_pos: positives, by their own name.
            groups: (N,) labels of the sessions in X; no pair reaches from one into another.
            augment: from rows (n, ...) to random changes of them, drawn anew for every batch. Anchors stay as
                they are, so that the encoder sees in training what it will transform.

        Returns:
            The estimator.

        """
        parameters = checked(self.get_params(deep=False))
        frames = self._read(X, groups, reset=True).frames
        self.lag_curve_ = self.n_components_curve_ = None
        kinds = self._make_kinds(frames, y, X_pos, augment, parameters)
        seed = draw_seed(self.random_state)
        alerts.warn_about_positives(kinds[0])
        if parameters["n_components"] == "auto":
            run, self.n_components_curve_ = choose_columns(kinds, parameters, seed)
        else:
            alerts.warn_about_size(kinds[0], parameters["n_components"], self.space)
            run = train(kinds, parameters, seed)
        run, self.nonlinear_gain_ = no_worse_than_linear(run)
        self._keep(run.fitted)
        self.start_residual_ = run.residual
        self._remember_pairs(run.kinds)
        self.config_ = run.fitted.config
        self.loss_curve_, self.loss_steps_ = loss_curve(run.fitted)
        self.held_out_curve_, self.held_out_steps_ = held_out_curve(run.stopping)
        self._optimizer_states: list[dict[str, Any]] = []
        self._describe(run.looked_at, run.kinds[0], sort=True)
        if run.stopping is not None:
            self.best_step_ = run.stopping.best_step
            if asks_for_steps(parameters):
                alerts.warn_about_thrown_away(run.stopping, self.n_iter_, self.config_.recipe.steps)
        if run.held_out is not None:
            # Λ̂ of the pairs that were trained on is too large wherever the network memorised them.
            use_concentration(self.loss_, torch.from_numpy(self.concentrations_).clamp_min(_SMALLEST))
        if parameters["refits"]:
            linear = self.nonlinear_gain_ is not None and self.nonlinear_gain_.linear
            refit(self, kinds, linear_settings(parameters) if linear else parameters, seed)
        alerts.warn_about_outcome(self)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        X_pos: Any = None,
        groups: Any = None,
        augment: Augment | None = None,
    ) -> Self:
        """Continue training with one pass over more pairs; the first call starts from random weights.

        Learning rates are constant at a tenth of the recipe's, and a sphere, if asked for, is there from the
        start. A stream has no end at which to finish an embedding, so there are no closing fits and columns
        keep their places: `concentration_` is not sorted. Where all data are at hand, `fit` is better.

        Args:
            X: as in `fit`.
            y: as in `fit`.
            X_pos: as in `fit`.
            groups: as in `fit`.
            augment: as in `fit`.

        Returns:
            The estimator.

        """
        train_on(self, X, y, X_pos, groups, augment)
        return self

    def _keep(self, fitted: Fitted, before: int = 0) -> None:
        self.encoder_, self.loss_, self.folded_ = fitted.encoder, fitted.loss, fitted.folded
        self.space_evidence_ = fitted.choice
        self.space_ = fitted.config.space if fitted.choice is None else fitted.choice.space
        self.n_iter_ = self.best_step_ = before + fitted.step
        self.refit_agreement_ = np.empty(0)
        self._n_features_out = fitted.config.dim

    def _describe(self, kinds: Sequence[Pairs], trained: Pairs, *, sort: bool) -> None:
        flat, seed = self.space_ == "flat", self.config_.seed
        self.modes_ = self.dynamics_gain_ = self.mode_shares_ = None
        if self.dynamics is not None:
            found = describe_moving(self, kinds[0], trained)
        else:
            found = describe(self.encoder_, self.loss_, kinds, trained, seed, flat=flat, sort=sort)
        self.concentrations_, self.concentrations_interval_, self.blocks_, self.separated_ = found
        lag = min(self.lags_) if flat and self.lags_ and self.dynamics is None else None
        self.decay_times_ = times_of_columns(self.encoder_, trained.frames, lag)
        if flat and self.space_evidence_ is not None:
            moments = sixth_moments(self.encoder_, kinds[0].x).tolist()
            self.space_evidence_ = look_for_box(self.space_evidence_, moments)
            self.space_ = self.space_evidence_.space

    def transform(self, X: Any, batch_size: int = 8192, *, groups: Any = None) -> Any:
        """Embed rows, a batch at a time: X may be a memory map of any length.

        Args:
            X: as in `fit`.
            batch_size: rows at once.
            groups: as in `fit`; a window does not reach from one session into another.

        Returns:
            (N, d) in the precision of X: float64 rows are computed in float64, though the encoder was trained
            in float32. A list of sessions gives a list.

        """
        check_is_fitted(self)
        check_count(batch_size, "batch_size")
        given = self._read(X, groups, reset=False)
        return given.like_given(self._embed(given.frames, batch_size))

    def _embed(self, frames: Frames, batch_size: int = 8192) -> Array:
        """Embed rows in their precision; NaN where something is missing."""
        exact = frames.rows.dtype == np.float64
        embedded: Array = embed_rows(self.encoder_, frames, batch_size=batch_size, exact=exact).cpu().numpy()
        if frames.gap is not None:
            embedded[~frames.usable] = np.nan
        return embedded

    def score(
        self,
        X: Any,
        y: Any = None,
        *,
        X_pos: Any = None,
        groups: Any = None,
        augment: Augment | None = None,
    ) -> float:
        """Bits by which positives are told from negatives, beyond guessing.

        Every anchor meets its positive and 511 other anchors (all of them, if there are fewer): 0 is
        guessing, 9 the most, and a model that is sure of wrong answers is below 0. Scores can be compared
        between models on the same rows and lags. Give rows that were not trained on.

        Args:
            X: as in `fit`.
            y: as in `fit`.
            X_pos: as in `fit`; if nothing is given, pairs are made as they were for `fit`.
            groups: as in `fit`.
            augment: as in `fit`.

        Returns:
            Bits per pair; for several lags their mean.

        """
        check_is_fitted(self)
        kinds = self.pairs_like_fit(X, y, X_pos, groups, augment)
        return bits_of_kinds(self.loss_, [(*pairs.embedded(self.encoder_), pairs.apart) for pairs in kinds])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "blocks_")
