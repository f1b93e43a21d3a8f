"""Form of the positive conditional: whether steps within pairs are normal, with one mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.signal import find_peaks

from aninfonce.diagnostics.finding import Finding
from aninfonce.diagnostics.intervals import jackknife
from aninfonce.diagnostics.sample import Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Vector = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_LEVEL = 1e-3
# Excess kurtosis beyond this is not of a normal step, nor of the sphere's curvature; a Laplace law has 3, a
# uniform one −1.2.
_KURTOSIS, _SKEW = 1.0, 0.5
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


def conditional(sample: Sample) -> Finding | None:
    """Test the steps from anchor to positive for normality and for two modes, along each direction of Λ̂.

    Args:
        sample: embedded pairs.

    Returns:
        The finding, None for a constant embedding; a concern if steps along some direction are surely not
        normal, or have two modes.

    """
    frame = sample.frame
    if frame is None:
        return None
    steps = frame.z_pos - frame.z
    steps = steps[:, steps.std(axis=0) > 1e-9]
    if not steps.shape[1]:
        return None
    kurtosis, skew, odd, two = step_form(steps)
    worst = int(np.argmax(np.where(two, np.inf, np.abs(kurtosis))))
    column = steps[:, worst]
    value, interval = jackknife(lambda rows: float(stats.kurtosis(column[rows])), len(column))
    if two.any():
        advice = (
            f"Steps within pairs have two modes along {int(two.sum())} of {len(two)} directions: pairs of two"
            " kinds are mixed, so train on each kind, or with EnsembleAnInfoNCE."
        )
    elif odd.any():
        tails = "heavier" if value > 0 else "lighter"
        advice = (
            f"Steps within pairs have {tails} tails than normal ones: a similarity −|Δ|ᵖ of another power"
            " (LpInfoNCE) may fit better."
        )
    else:
        advice = "Steps within pairs look normal, as the similarity assumes."

    def draw(axis: Axes) -> None:
        unit = (column - column.mean()) / column.std()
        axis.hist(unit, np.linspace(-4, 4, 60).tolist(), density=True, color="#22558f", alpha=0.8)
        grid = np.linspace(-4, 4, 200)
        axis.plot(grid, stats.norm.pdf(grid), color="black", linewidth=1)
        axis.set(xlabel="step / its standard deviation", ylabel="density")
        axis.set_title("Least normal direction (line: normal)")

    return Finding(
        name="conditional",
        title="Form of the positive conditional",
        measure="excess kurtosis of the least normal direction (0 if normal)",
        value=value,
        interval=interval,
        concern=bool(odd.any() or two.any()),
        advice=advice,
        details={"kurtosis": kurtosis.tolist(), "skew": skew.tolist(), "two_modes": two.tolist()},
        draw=draw,
    )


def _two_modes(values: Vector) -> bool:
    """Whether a smooth density of the values has a second peak worth the name."""
    grid = np.linspace(values.min(), values.max(), 256)
    density = stats.gaussian_kde(values)(grid)
    # A peak at the very end counts too.
    padded = np.concatenate([[0.0], density, [0.0]])
    peaks, _ = find_peaks(padded, prominence=_PROMINENCE * density.max())
    return len(peaks) > 1
