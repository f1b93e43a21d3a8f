"""Ways to find the sources of a recording, and how well each did on rows that it did not see."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from aninfonce.alignment import time_constant
from aninfonce.diagnostics import audit
from aninfonce.estimator import ContrastiveICA
from aninfonce.extending import derive_seed
from aninfonce.metrics import concentration_error, linear_r2, mean_correlation_coefficient
from aninfonce_papers.beyond.worlds import Matrix, Recording
from aninfonce_papers.engine.base import Configuration, Metrics, Preset

# Rows to train on and, after them, rows to look at; `candidates` as in `studies.trained`.
SIZES: dict[Preset, Configuration] = {
    "smoke": {"rows": 1_500, "test_rows": 500, "steps": 20, "batch_size": 64, "candidates": 100},
    "laptop": {"rows": 10_000, "test_rows": 4_000, "steps": 500, "batch_size": 256, "candidates": 1_000},
    "paper": {"rows": 30_000, "test_rows": 10_000, "steps": 2_000, "batch_size": 512, "candidates": 25_000},
}
# Seconds of one run on one core, for estimates before there are rows to go by.
SECONDS: dict[Preset, float] = {"smoke": 2.0, "laptop": 10.0, "paper": 60.0}

# What each method asks of the estimator, beside the number of columns.
METHODS: dict[str, dict[str, Any]] = {
    "flat": {"space": "flat"},
    "flat, no β": {"space": "flat", "loss_options": {"potential": False}},
    "unbounded, β": {"space": "unbounded", "loss_options": {"potential": True}},
    "unbounded, no β": {"space": "unbounded"},
    "sphere": {"space": "sphere"},
    # d columns on a sphere hold d − 1 free factors.
    "sphere, d + 1 columns": {"space": "sphere"},
}


class Found(NamedTuple):
    """What a method makes of the rows to look at."""

    embedding: Matrix
    """(T, k)."""
    concentration: Matrix | None
    """(k,) Λ̂ of columns of unit variance; None where it is that of something else."""
    more: Metrics
    """What else there is to tell."""


def contrastive(x: Matrix, settings: Configuration, seed: int, *, judged: bool = False) -> Found:
    """Train on the first rows, in pairs that are `lag` apart, and embed the others.

    Args:
        x: (T, D) observations, in the order of time.
        settings: of a cell, with a `method` and the sizes.
        seed: of weights and batches.
        judged: whether to audit the encoder on those other rows, and tell what asks for attention.

    Returns:
        The embedding of the rows that were not trained on.

    """
    method, lag, rows = settings["method"], settings.get("lag", 1), settings["rows"]
    columns = x.shape[1] + (method == "sphere, d + 1 columns")
    model = ContrastiveICA(
        columns,
        **METHODS[method],
        lag=lag,
        max_steps=settings["steps"],
        batch_size=settings["batch_size"],
        random_state=derive_seed(seed, "weights") % 2**31,
        device="cpu",
    ).fit(x[:rows])
    flat = METHODS[method]["space"] == "flat"
    more: Metrics = {"held-out bits": float(model.score(x[rows:]))}
    if flat:
        more["columns by themselves"] = sum(len(block) == 1 for block in model.blocks_)
    if judged:
        report = audit(model, (x[rows:-lag], x[rows + lag :]), seed=derive_seed(seed, "audit"))
        more["concerns of the audit"] = [finding.name for finding in report.concerns]
    return Found(np.asarray(model.transform(x[rows:])), model.concentration_ if flat else None, more)


def amuse(x: Matrix, settings: Configuration) -> Found:
    """Turn decorrelated channels to the axes of their lagged covariance: the linear floor.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> slow = np.cumsum(rng.normal(size=4000)) / 60
        >>> x = np.stack([slow, rng.normal(size=4000)], axis=1) @ [[0.6, 0.8], [-0.8, 0.6]]
        >>> found = amuse(x, {"rows": 2000})
        >>> bool(abs(np.corrcoef(found.embedding[:, 1], slow[2000:])[0, 1]) > 0.99)
        True

    Args:
        x: (T, D) observations, in the order of time.
        settings: of a cell, with `rows` to learn from.

    Returns:
        The other rows in those axes, with Λ̂ from their autocorrelation.

    References:
        Tong et al., "AMUSE: a new blind identification algorithm" (1990).

    """
    rows, lag = settings["rows"], settings.get("lag", 1)
    centre = x[:rows].mean(axis=0)
    spread, directions = np.linalg.eigh(np.cov(x[:rows].T))
    whitening = directions / np.sqrt(spread)
    white = (x - centre) @ whitening
    lagged = white[: rows - lag].T @ white[lag:rows] / (rows - lag)
    correlation, axes = np.linalg.eigh(0.5 * (lagged + lagged.T))
    phi = correlation.clip(0.0, 1.0 - 1e-6)
    return Found(white[rows:] @ axes, phi / (1 - phi**2), {})


def scores(recording: Recording, found: Found, settings: Configuration) -> Metrics:
    """Compare what was found with the sources, on rows that were not trained on.

    Args:
        recording: with its sources.
        found: by a method.
        settings: of a cell, with `rows` that were trained on.

    Returns:
        R², mean correlation coefficient, that of ranks, and what else the method tells.

    """
    z = recording.z[settings["rows"] :]
    return {
        "R²": linear_r2(z, found.embedding).mean,
        "mean correlation": mean_correlation_coefficient(z, found.embedding).mean,
        "rank correlation": mean_correlation_coefficient(z, found.embedding, method="spearman").mean,
        **found.more,
    }


def errors(recording: Recording, found: Found, lag: int) -> Metrics:
    """Compare Λ̂, and the time constants that follow from it, with the truth; nothing without Λ̂.

    Args:
        recording: of which nothing is broken.
        found: by a method.
        lag: rows from an anchor to its positive.

    Returns:
        Mean relative errors, sorted against sorted.

    """
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
