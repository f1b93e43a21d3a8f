"""Calibration of the contrastive posterior: a test of the model that needs no labels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from scipy.special import softmax

from aninfonce.diagnostics.finding import Finding, cannot_tell, gravest, judge, not_judged, titled
from aninfonce.diagnostics.frame import even_block
from aninfonce.diagnostics.intervals import Interval, Matrix, jackknife
from aninfonce.diagnostics.sample import Sample
from aninfonce.plots._axes import LEVEL, MAIN, Axes

_BLOCK = 128
_BINS = 10
_REPLICATES = 1000
_LEVEL = 1e-3
# Miscalibration in excess of a perfect model's, on as many rows, that still counts as small: rows of a block
# share their negatives, so their answers are not quite independent.
_SMALL = 0.04
# Confidence that is surely closer to accuracy than this counts as right.
_NEAR = 0.05


@titled("Calibration of the contrastive posterior")
def calibration(sample: Sample) -> Finding:
    """Compare how sure the model is of a positive with how often it is right.

    The similarity −½ΔᵀΛ̂Δ turns distances into the probability that one of up to 128 candidates is the
    positive. If positives are drawn as the model says, then of the answers that get probability p a share p
    is right. Λ̂ is fitted on the same pairs: from others it would come with an error of its own, and raise
    false alarms.

    A concern if the model is clearly worse calibrated than chance allows.
    """
    frame = sample.frame
    if frame is None:
        return not_judged("no direction of the embedding varies")
    probability = _posterior(frame.z, frame.z_pos, frame.concentration.values)
    best, sure = probability.argmax(axis=1), probability.max(axis=1)
    right = best == 0
    edges = np.quantile(sure, np.linspace(0, 1, _BINS + 1)[1:-1])
    member = np.searchsorted(edges, sure)
    error = _calibration_error(sure, right[None], member)[0]
    simulated = sample.rng("calibration").random((_REPLICATES, len(sure))) < sure
    null = _calibration_error(sure, simulated, member)
    p = (1 + int((null >= error).sum())) / (1 + _REPLICATES)
    value, interval = jackknife(lambda rows: float((sure[rows] - right[rows]).mean()), len(sure))
    excess = float(error - null.mean())
    status = gravest(
        judge(interval, _NEAR, bad="above"),
        judge(interval, -_NEAR, bad="below"),
        "fine" if excess <= _SMALL else "concern" if p <= _LEVEL else "undetermined",
    )
    advice = {
        "concern": f"The model is {_verdict(interval)}, so that positives are not drawn as it assumes: look"
        " at the form of the positive conditional and at uniformity.",
        "undetermined": cannot_tell("the model is as sure of its positives as it is right"),
        "fine": "The model is about as sure of its positives as it is right.",
    }[status]
    means = [
        (sure[member == b].mean(), right[member == b].mean()) for b in range(_BINS) if (member == b).any()
    ]

    def draw(axis: Axes) -> None:
        axis.plot([0, 1], [0, 1], **LEVEL)
        axis.plot(*zip(*means, strict=True), "o-", color=MAIN)
        axis.set(xlabel="how sure", ylabel="how often right", title="Reliability (dotted: calibrated)")

    return Finding(
        measure="confidence minus accuracy (0 if calibrated)",
        value=value,
        interval=interval,
        status=status,
        advice=advice,
        details={"calibration_error": float(error), "expected_error": float(null.mean()), "p": p},
        draw=draw,
    )


def _verdict(interval: Interval) -> str:
    if interval[0] > 0:
        return "too sure of its positives"
    return (
        "not sure enough of its positives" if interval[1] < 0 else "too sure of some positives, not of others"
    )


def _posterior(z: Matrix, z_pos: Matrix, concentration: Matrix) -> Matrix:
    """Probability of each candidate, the positive first and then the other anchors of its block, (M, K)."""
    root, n = np.sqrt(concentration), even_block(len(z), _BLOCK)
    parts = []
    for start in range(0, len(z) - n + 1, n):
        a, p = z[start : start + n] * root, z_pos[start : start + n] * root
        others = cdist(a, a, "sqeuclidean")[~np.eye(n, dtype=bool)].reshape(n, n - 1)
        positive = ((a - p) ** 2).sum(axis=1, keepdims=True)
        parts.append(softmax(-0.5 * np.concatenate([positive, others], axis=1), axis=1))
    return np.concatenate(parts)


def _calibration_error(sure: Matrix, right: npt.NDArray[np.bool_], member: npt.NDArray[np.intp]) -> Matrix:
    """Mean over rows of |confidence − accuracy| of the row's bin, for each of R sets of answers (R, M)."""
    total = np.zeros(len(right))
    for index in range(_BINS):
        inside = member == index
        if inside.any():
            total += np.abs(sure[inside].sum() - right[:, inside].sum(axis=1))
    error: Matrix = total / len(sure)
    return error
