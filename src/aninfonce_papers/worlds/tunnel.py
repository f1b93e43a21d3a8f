"""A light tunnel: three lights behind two polarisers, seen by its sensors or by its camera.

The tunnel is a real machine, and `causalchamber` (PyPI) ships simulators of it. Its five factors are set, so
they are known; what is seen is what the simulators make of them. Nothing but cos²(θ₁ − θ₂) of the polarisers'
angles reaches a light sensor or the camera (Malus's law): only the two angle sensors tell more of them.
"""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stdout
from functools import cache
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import torch
from scipy.signal import lfilter

from aninfonce.datasets import TUNNEL_FACTORS as FACTORS
from aninfonce.datasets import TUNNEL_READINGS as READINGS
from aninfonce.distributions import Normal, Truncated, Uniform
from aninfonce.extending import check_choice, check_count, derive_seed, stream
from aninfonce.spaces import Box

Floats = npt.NDArray[np.float64]
View = Literal["all sensors", "light sensors", "camera"]
VIEWS: tuple[View, ...] = get_args(View)
# Where they are set: brightness from dark to full, angles in degrees, as in the tunnel's own benchmark.
LOW = np.array([0.0, 0.0, 0.0, -90.0, -90.0])
HIGH = np.array([255.0, 255.0, 255.0, 90.0, 90.0])
_LIGHT_SENSORS = tuple(name for name in READINGS if not name.startswith("angle"))
# Diodes, exposures and reference voltages, as in the tunnel's own benchmark (`lt_crl_benchmark_v1`).
_HELD = {
    **{f"diode_ir_{place}": 2 for place in (1, 2, 3)},
    **{f"diode_vis_{place}": 1 for place in (1, 2, 3)},
    **{f"t_{kind}_{place}": 3 for kind in ("ir", "vis") for place in (1, 2, 3)},
    **dict.fromkeys(("v_c", "v_angle_1", "v_angle_2"), 5.0),
}
# Fitted to the machine by its makers, and printed in the tutorials of `causalchamber` 0.2.8.
_SENSORS_FITTED = {
    "S": np.array([[4.34165202, 2.8594438, 1.91565691], [0.89410569, 1.58679242, 2.68477163]]),
    "d1": np.array(0.1),
    "d2": np.array(0.17),
    "d3": np.array(0.25),
    "Ts": np.array([0.42685688, 0.41231782, 0.46652526]),
    "Tp": np.array([0.2909342, 0.29624314, 0.30526271]),
    "Tc": np.array([0.00431032, 0.01447611, 0.02041075]),
    "Q": np.array([0.12834946, 0.12870338, 0.13078523]),
    "C0": np.array(58.13307318503893),
    "A": np.array(1.42261211),
    "a1": np.array(506.8049747171294),
    "a2": np.array(510.98343062774353),
}
_CAMERA_FITTED = {
    "S": np.array(
        [
            [0.2995802, 0.06920322, 0.028159],
            [0.04017132, 0.9209918, 0.31265],
            [0.00217392, 0.2071558, 0.75763],
        ]
    ),
    "w_r": 2.65625,
    "w_g": 1.0,
    "w_b": 1.77344,
    "exposure": 2.5,
    "Tp": np.array([[0.29], [0.35], [0.33]]),
    "Tc": np.array([[0.02], [0.08], [0.18]]),
    "center_x": 0.5,
    "center_y": 0.5,
    "radius": 0.22,
    "offset": 0,
}
_PIXELS = 12
_AT_ONCE = 4096
# A recording's factors have this many standard deviations from the middle of their range to its ends.
_DEVIATIONS = 3.0


class Tunnel(NamedTuple):
    """What is seen, and how the tunnel was set."""

    x: npt.NDArray[np.float32]
    """(N, 9) or (N, 7) readings, or (N, 3, H, W) pictures with values from 0 to 1."""
    x_pos: npt.NDArray[np.float32] | None
    """The same a step later; None for a recording, whose rows are in the order of time."""
    factors: Floats
    """(N, 5) settings of x."""


def step_pairs(scales: Any, rows: int, seed: int, view: View) -> Tunnel:
    """Set the tunnel at random, and once more a small step away.

    Anchors are uniform; each factor then makes a normal step, truncated to its range.

    Example:
        >>> pairs = step_pairs([0.1, 0.1, 0.2, 0.4, 0.4], 100, seed=0, view="light sensors")
        >>> pairs.x.shape == pairs.x_pos.shape == (100, 7)
        True

    Args:
        scales: (5,) standard deviations of the steps, in halves of each factor's range; Λ = 1/scale².
        rows: N.
        seed: of anchors and steps.
        view: by what it is seen.

    """
    values = _one_each(scales, "scales")
    check_count(rows, "rows")
    generator = stream(seed, "steps")
    unit = Uniform(Box(len(FACTORS), -1.0, 1.0), dtype=torch.float64).sample(rows, generator)
    stepped = [
        Truncated(Normal(unit[:, [place]], scale), Box(1, -1.0, 1.0)).sample(generator)
        for place, scale in enumerate(values.tolist())
    ]
    factors, later = _settings(unit.numpy()), _settings(torch.cat(stepped, dim=1).numpy())
    return Tunnel(look(factors, view), look(later, view), factors)


def walk(phi: Any, rows: int, seed: int, view: View) -> Tunnel:
    """Let the factors wander, each by an AR(1) process of its own, and look once per row.

    Example:
        >>> walk([0.5, 0.7, 0.8, 0.9, 0.95], 100, seed=0, view="all sensors").x.shape
        (100, 9)

    Args:
        phi: (5,) autocorrelations from one row to the next.
        rows: N.
        seed: of the walk.
        view: by what it is seen.

    Returns:
        The recording. Factors are normal with a sixth of their range as standard deviation; the few values
        beyond the range are set to its ends.

    """
    values = _one_each(phi, "phi")
    if not ((values >= 0) & (values < 1)).all():
        raise ValueError(f"`phi` must hold numbers from 0 to below 1, got {phi!r}")
    check_count(rows, "rows")
    rng = np.random.default_rng(derive_seed(seed, "walk"))
    drawn = rng.normal(size=(rows, len(FACTORS)))
    # The first row has the law of the long run; each later one adds to what is left of the row before.
    drawn[1:] *= np.sqrt(1 - values**2)
    wandered = [lfilter([1.0], [1.0, -one], column) for one, column in zip(values, drawn.T, strict=True)]
    factors = _settings((np.stack(wandered, axis=1) / _DEVIATIONS).clip(-1.0, 1.0))
    return Tunnel(look(factors, view), None, factors)


def look(factors: Floats, view: View, pixels: int = _PIXELS) -> npt.NDArray[np.float32]:
    """Simulate what the sensors or the camera see at some settings.

    Example:
        >>> dark_and_bright = np.array([[0.0, 0, 0, 0, 0], [255, 255, 255, 0, 0]])
        >>> look(dark_and_bright, "camera", pixels=8).max(axis=(1, 2, 3)).tolist()
        [0.0, 1.0]

    Args:
        factors: (N, 5) settings, in the order of `aninfonce.datasets.TUNNEL_FACTORS`.
        view: "all sensors": nine readings. "light sensors": the seven that do not read angles. "camera":
            pictures of a hexagon of one colour.
        pixels: of a side of a picture.

    Returns:
        (N, 9), (N, 7), or (N, 3, pixels, pixels).

    """
    check_choice(view, "view", VIEWS)
    check_count(pixels, "pixels")
    if factors.ndim != 2 or factors.shape[1] != len(FACTORS):
        raise ValueError(f"`factors` must have shape (N, {len(FACTORS)}), got {factors.shape}")
    import pandas as pd

    simulators = _simulators()
    table = pd.DataFrame(factors, columns=list(FACTORS)).assign(**_HELD)
    if view != "camera":
        found = simulators.Deterministic(**_SENSORS_FITTED).simulate_from_inputs(table)
        names = simulators.Deterministic.outputs_names
        readings = dict(zip(names, map(np.ravel, found), strict=True))
        wanted = READINGS if view == "all sensors" else _LIGHT_SENSORS
        return np.stack([readings[name] for name in wanted], axis=1).astype(np.float32)
    camera = simulators.ModelF3(**_CAMERA_FITTED, image_size=pixels)
    pictures = np.empty((len(factors), 3, pixels, pixels), dtype=np.float32)
    with warnings.catch_warnings():
        # numpy deprecates cross products of 2-d vectors, by which the simulator finds its hexagon.
        warnings.simplefilter("ignore", DeprecationWarning)
        for start in range(0, len(factors), _AT_ONCE):
            some = camera.simulate_from_inputs(table.iloc[start : start + _AT_ONCE])
            pictures[start : start + len(some)] = some.transpose(0, 3, 1, 2)
    return pictures


def malus(factors: Floats) -> Floats:
    """Give the share of light that two polarisers let through, cos²(θ₁ − θ₂), all that is seen of them.

    >>> malus(np.array([[0.0, 0, 0, 10, 10], [0, 0, 0, 60, 0]])).round(2).tolist()
    [1.0, 0.25]
    """
    shares: Floats = np.cos(np.deg2rad(factors[:, 3] - factors[:, 4])) ** 2
    return shares


def _settings(unit: Floats) -> Floats:
    """Bring factors from [−1, 1] to their ranges."""
    found: Floats = LOW + (HIGH - LOW) * (unit + 1) / 2
    return found


def _one_each(numbers: Any, name: str) -> Floats:
    found = np.asarray(numbers, dtype=np.float64)
    if found.shape != (len(FACTORS),):
        raise ValueError(f"`{name}` must hold a number for each of {len(FACTORS)} factors, got {numbers!r}")
    return found


@cache
def _simulators() -> Any:
    try:
        # It prints a greeting when imported, and a note if torchvision is missing, which is not needed here.
        with redirect_stdout(io.StringIO()):
            from causalchamber.simulators import lt
    except ImportError:
        raise ModuleNotFoundError(
            'the light tunnel needs its simulators: pip install "aninfonce[papers]"', name="causalchamber"
        ) from None
    return lt
