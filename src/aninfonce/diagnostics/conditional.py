"""Form of the positive conditional: whether steps within pairs are normal, with one mode."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.signal import find_peaks

from aninfonce.diagnostics.finding import Finding, Status, cannot_tell, gravest, judge, not_judged, titled
from aninfonce.diagnostics.intervals import Interval, jackknife_each
from aninfonce.diagnostics.sample import Sample
from aninfonce.diagnostics.training_facts import TrainingFacts
from aninfonce.plots._axes import MAIN, Axes

Vector = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_LEVEL = 1e-3
# Excess kurtosis beyond this is not of a normal step, nor of the sphere's curvature; a Laplace law has 3, a
# uniform one −1.2.
_KURTOSIS, _SKEW = 1.0, 0.5
# Steps pass as normal if both are surely within these: clearly short of a Laplace and a uniform law.
_NEAR_KURTOSIS, _NEAR_SKEW = (-1.0, 2.0), (-1.0, 1.0)
# A second mode rises above the trough by this share of the highest.
_PROMINENCE = 0.3


class StepForm(NamedTuple):
    """What the steps along each of d directions look like.

    Attributes:
        kurtosis: (d,) excess kurtosis, 0 if normal.
        skew: (d,).
        odd: (d,) whether they are surely not normal, by more than a sphere's curvature would explain.
        two_modes: (d,) whether their density has a second peak worth the name.

    """

    kurtosis: Vector
    skew: Vector
    odd: Flags
    two_modes: Flags


def step_form(steps: Vector) -> StepForm:
    """Test columns for normality and for two modes.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> normal, two = rng.normal(size=(2, 2000)) * 0.3
        >>> form = step_form(np.stack([normal, two + np.sign(rng.normal(size=2000))], axis=1))
        >>> form.odd.tolist(), form.two_modes.tolist()
        ([False, True], [False, True])

    Args:
        steps: (N, d), none of them constant.

    Returns:
        The findings for each column.

    References:
        D'Agostino and Pearson, "Tests for departure from normality" (1973).

    """
    kurtosis, skew = np.asarray(stats.kurtosis(steps)), np.asarray(stats.skew(steps))
    rejected = stats.normaltest(steps).pvalue < _LEVEL / steps.shape[1]
    odd = rejected & ((np.abs(kurtosis) > _KURTOSIS) | (np.abs(skew) > _SKEW))
    return StepForm(kurtosis, skew, odd, np.array([_two_modes(column) for column in steps.T]))


class _Shape(NamedTuple):
    """Kurtosis or skew of the steps along one direction."""

    kind: str
    column: int
    value: float
    interval: Interval
    status: Status
    size: float
    """How far from normal, in units of what counts as large."""


@titled("Form of the positive conditional")
def conditional(sample: Sample) -> Finding:
    """Test the steps from anchor to positive for normality and for two modes, along each direction of Λ̂.

    A concern if steps along some direction are surely and clearly not normal, or have two modes.
    """
    frame = sample.frame
    steps = np.empty((0, 0)) if frame is None else frame.z_pos - frame.z
    steps = steps[:, steps.std(axis=0) > 1e-9] if steps.size else steps
    if not steps.size:
        return not_judged("there is no step from an anchor to its positive")
    form = step_form(steps)
    shapes = _shapes(steps, form)
    status = gravest(*(shape.status for shape in shapes))
    worst = max((shape for shape in shapes if shape.status == status), key=lambda shape: shape.size)
    column = steps[:, worst.column]

    def draw(axis: Axes) -> None:
        unit = (column - column.mean()) / column.std()
        axis.hist(unit, np.linspace(-4, 4, 60).tolist(), density=True, color=MAIN, alpha=0.8)
        grid = np.linspace(-4, 4, 200)
        axis.plot(grid, stats.norm.pdf(grid), color="black", linewidth=1)
        axis.set(xlabel="step / its standard deviation", ylabel="density")
        axis.set_title("Least normal direction (line: normal)")

    return Finding(
        measure=f"{worst.kind} of the least normal direction (0 if normal)",
        value=worst.value,
        interval=worst.interval,
        status=status,
        advice=_advice(worst, form, sample.run),
        details={
            "kurtosis": form.kurtosis.tolist(),
            "skew": form.skew.tolist(),
            "two_modes": form.two_modes.tolist(),
        },
        draw=draw,
    )


def _shapes(steps: Vector, form: StepForm) -> list[_Shape]:
    """Judge kurtosis and skew of each direction."""
    d = steps.shape[1]
    values, intervals = jackknife_each(
        lambda rows: np.concatenate([stats.kurtosis(steps[rows]), stats.skew(steps[rows])]), len(steps)
    )
    shapes = []
    for index, (value, (low, high)) in enumerate(zip(values.tolist(), intervals.tolist(), strict=True)):
        column = index % d
        kind, large, near = (
            ("excess kurtosis", _KURTOSIS, _NEAR_KURTOSIS) if index < d else ("skew", _SKEW, _NEAR_SKEW)
        )
        size = abs(value) / large
        status = gravest(judge((low, high), near[1], bad="above"), judge((low, high), near[0], bad="below"))
        if form.odd[column] and size > 1 and (low > 0 or high < 0):
            status = "concern"
        if form.two_modes[column] and index < d:
            status, size = "concern", np.inf
        shapes.append(_Shape(kind, column, value, (low, high), status, size))
    return shapes


def _advice(worst: _Shape, form: StepForm, run: TrainingFacts) -> str:
    if form.two_modes.any():
        remedy = "" if run.ensemble else ", or with EnsembleAnInfoNCE"
        return (
            f"Steps within pairs have two modes along {int(form.two_modes.sum())} of {len(form.odd)}"
            f" directions: pairs of two kinds are mixed, so train on each kind{remedy}."
        )
    if worst.status == "undetermined":
        return cannot_tell("steps within pairs are normal")
    if worst.status == "fine":
        return "Steps within pairs look about normal, as the similarity assumes."
    if worst.kind == "skew":
        return (
            "Steps within pairs lean to one side: see whether the two of a pair are drawn alike, or drift"
            " from the first to the second."
        )
    tails = "heavier" if worst.value > 0 else "lighter"
    power = "than this run's" if run.power else "(LpInfoNCE)"
    return (
        f"Steps within pairs have {tails} tails than normal ones: a similarity −|Δ|ᵖ of another power {power}"
        " may fit better."
    )


def _two_modes(values: Vector) -> bool:
    """Whether a smooth density of the values has a second peak worth the name."""
    grid = np.linspace(values.min(), values.max(), 256)
    density = stats.gaussian_kde(values)(grid)
    # A peak at the very end counts too.
    padded = np.concatenate([[0.0], density, [0.0]])
    peaks, _ = find_peaks(padded, prominence=_PROMINENCE * density.max())
    return len(peaks) > 1
