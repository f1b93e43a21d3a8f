"""Ways to find the sources of a recording, and how well each did on rows that it did not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from pydantic import JsonValue, PositiveInt

from aninfonce.alignment import LinearModes, joint_diagonalisation, linear_modes, time_constant
from aninfonce.diagnostics import audit
from aninfonce.estimator import ContrastiveICA
from aninfonce.extending import derive_seed
from aninfonce.metrics import concentration_error, linear_r2, mean_correlation_coefficient
from aninfonce_papers.beyond.worlds import Break, Innovations, Matrix, Recording, make_recording
from aninfonce_papers.engine import Experiment, Metrics, Pairs, Preset, Score


@dataclass(frozen=True)
class Sizes:
    """Rows to train on and, after them, rows to look at; matrices drawn for each layer of the mixing."""

    rows: int
    test_rows: int
    steps: int
    batch_size: int
    candidates: int
    seconds: float
    """Of one run on one core, for estimates before there are rows to go by."""


SIZES: dict[Preset, Sizes] = {
    "smoke": Sizes(1_500, 500, 20, 64, 100, 2.0),
    "laptop": Sizes(10_000, 4_000, 500, 256, 1_000, 10.0),
    "paper": Sizes(30_000, 10_000, 2_000, 512, 25_000, 60.0),
}
Method = Literal[
    "flat",
    "flat, no β",
    "unbounded, β",
    "unbounded, no β",
    "sphere",
    "sphere, d + 1 columns",
    "AMUSE (linear)",
]
# What each method asks of the estimator, beside the number of columns.
METHODS: dict[Method, dict[str, Any]] = {
    "flat": {"space": "flat"},
    "flat, no β": {"space": "flat", "loss_options": {"potential": False}},
    "unbounded, β": {"space": "unbounded", "loss_options": {"potential": True}},
    "unbounded, no β": {"space": "unbounded"},
    "sphere": {"space": "sphere"},
    # d columns on a sphere hold d − 1 free factors.
    "sphere, d + 1 columns": {"space": "sphere"},
}


class RecordingPairs(Pairs):
    """Rows of one recording that are some time apart.

    Attributes:
        phi: of each source, an AR(1) process.
        rows: to train on.
        test_rows: after them, to score on.
        candidates: matrices drawn for each layer of the mixing.
        lag: rows from an anchor to its positive.
        innovations: their law.
        broken: the assumption that the recording breaks.
        dial: how much.

    """

    phi: tuple[float, ...]
    rows: PositiveInt
    test_rows: PositiveInt
    candidates: PositiveInt
    lag: PositiveInt = 1
    innovations: Innovations = "normal"
    broken: Break = "none"
    dial: float = 0.0

    def open(self, seed: int) -> Recording:
        """Make the recording."""
        return make_recording(
            self.phi,
            self.rows + self.test_rows,
            seed,
            innovations=self.innovations,
            broken=self.broken,
            dial=self.dial,
            candidates=self.candidates,
        )


def recording_pairs(sizes: Sizes, phi: tuple[float, ...], lag: int = 1) -> RecordingPairs:
    """Give a recording of some size that breaks nothing."""
    rows, test_rows, candidates = sizes.rows, sizes.test_rows, sizes.candidates
    return RecordingPairs(phi=phi, rows=rows, test_rows=test_rows, candidates=candidates, lag=lag)


class RecordingScore(Score):
    """Finds the sources of a recording, and compares them with the true ones on its end.

    Attributes:
        method: that finds them.
        steps: of training.
        batch_size: pairs of a step.
        judged: also audit the encoder, and record its concerns.
        timed: also compare Λ̂ and time constants with the truth.

    """

    method: Method
    steps: PositiveInt
    batch_size: PositiveInt
    judged: bool = False
    timed: bool = False

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Find the sources, and score them."""
        pairs = experiment.pairs
        assert isinstance(pairs, RecordingPairs)
        recording = pairs.open(seed)
        if self.method in METHODS:
            found = self.contrastive(recording.x, pairs.rows, pairs.lag, seed)
        else:
            found = second_order(recording.x, pairs.rows, [pairs.lag])
        metrics = scores(recording, found, pairs.rows)
        return {**metrics, **errors(recording, found, pairs.lag)} if self.timed else metrics

    def contrastive(self, x: Matrix, rows: int, lag: int, seed: int) -> Found:
        """Train on the first rows of x (T, D), in pairs that are `lag` apart, and embed the others."""
        columns = x.shape[1] + (self.method == "sphere, d + 1 columns")
        sizes = {"max_steps": self.steps, "batch_size": self.batch_size}
        model = estimator(columns, seed, lag=lag, **sizes, **METHODS[self.method]).fit(x[:rows])
        flat = METHODS[self.method]["space"] == "flat"
        more: dict[str, JsonValue] = {"held-out bits": float(model.score(x[rows:]))}
        if flat:
            more["columns by themselves"] = sum(len(block) == 1 for block in model.blocks_)
        if self.judged:
            report = audit(model, (x[rows:-lag], x[rows + lag :]), seed=derive_seed(seed, "audit"))
            more["concerns of the audit"] = [finding.name for finding in report.concerns]
        return Found(np.asarray(model.transform(x[rows:])), model.concentration_ if flat else None, more)


class Found(NamedTuple):
    """What a method makes of the test rows."""

    embedding: Matrix
    """(T, k)."""
    concentration: Matrix | None
    """(k,) Λ̂ of columns of unit variance; None where it is that of something else."""
    more: Metrics
    """Further results."""
    modes: LinearModes | None = None
    """How the columns move, where that was fitted."""


def second_order(x: Matrix, rows: int, lags: Sequence[int]) -> Found:
    """Turn decorrelated channels to axes that make all lagged covariances diagonal: AMUSE, or SOBI.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> slow = np.cumsum(rng.normal(size=4000)) / 60
        >>> x = np.stack([slow, rng.normal(size=4000)], axis=1) @ [[0.6, 0.8], [-0.8, 0.6]]
        >>> for lags in ((1,), (1, 2)):
        ...     found = second_order(x, 2000, lags).embedding
        ...     bool(abs(np.corrcoef(found[:, 1], slow[2000:])[0, 1]) > 0.99)
        True
        True

    Args:
        x: (T, D) observations, in the order of time.
        rows: to learn from.
        lags: one for AMUSE, several for SOBI.

    Returns:
        The other rows in those axes, with Λ̂ from their autocorrelation over the first lag.

    References:
        Tong et al., "AMUSE: a new blind identification algorithm" (1990).
        Belouchrani et al., "A blind source separation technique using second-order statistics" (1997).

    """
    spread, directions = np.linalg.eigh(np.cov(x[:rows].T))
    white = (x - x[:rows].mean(axis=0)) @ (directions / np.sqrt(spread))
    lagged = [white[: rows - lag].T @ white[lag:rows] / (rows - lag) for lag in lags]
    found = joint_diagonalisation(torch.from_numpy(np.stack(lagged)))
    phi = found.diagonals[0].numpy().clip(0.0, 1.0 - 1e-6)
    return Found(white[rows:] @ found.axes.numpy(), phi / (1 - phi**2), {})


def mode_decomposition(x: Matrix, rows: int, lag: int) -> LinearModes:
    """Regress each of the first rows of x (T, D) on the one a lag before it: dynamic mode decomposition."""
    clusters = np.arange(rows - lag) // max(lag, round(rows**0.5))
    return linear_modes(x[: rows - lag], x[lag:rows], clusters=clusters)


def estimator(columns: int, seed: int, **settings: Any) -> ContrastiveICA:
    """Give the estimator, its weights and batches drawn by the seed of a run."""
    own = derive_seed(seed, "weights") % 2**31
    return ContrastiveICA(columns, random_state=own, device="cpu", **settings)


def scores(recording: Recording, found: Found, rows: int) -> Metrics:
    """Compare what was found with the sources, on rows that were not trained on: R² and correlations."""
    z = recording.z[rows:]
    return {
        "R²": linear_r2(z, found.embedding).mean,
        "mean correlation": mean_correlation_coefficient(z, found.embedding).mean,
        "rank correlation": mean_correlation_coefficient(z, found.embedding, method="spearman").mean,
        **found.more,
    }


def errors(recording: Recording, found: Found, lag: int) -> Metrics:
    """Give the mean relative errors of Λ̂, sorted against sorted, and of time constants; none without Λ̂."""
    if found.concentration is None:
        return {}
    tau = time_constant(torch.from_numpy(recording.concentration))
    # Over k rows, a source of time constant τ has φ = exp(−k/τ), and Λ = φ/(1−φ²) = ½/sinh(k/τ).
    truth = 0.5 / torch.sinh(lag / tau)
    learned = torch.from_numpy(np.ascontiguousarray(found.concentration))
    return {
        "error of Λ̂": concentration_error(learned, truth).mean,
        "error of time constants": concentration_error(time_constant(learned, lag), tau).mean,
        "Λ̂": [round(value, 4) for value in learned.tolist()],
        "Λ": [round(value, 4) for value in truth.tolist()],
    }
