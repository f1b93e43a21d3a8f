"""What the ten latents of 3DIdent mean: from numbers in [−1, 1] to places, turns and colours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aninfonce.extending import describe
from aninfonce_papers.worlds.scenes.shapes import SIZE, Floats

LATENTS = (
    "x",
    "y",
    "z",
    "turn about x",
    "turn about y",
    "turn about z",
    "spotlight",
    "object hue",
    "spotlight hue",
    "ground hue",
)
REACH = 3.0
EYE = np.array([8.0, 0.0, 8.0])
GROUND = -SIZE
# Of the camera's lens and sensor: half the width of the view at distance 1.
VIEW = 25.0 / 35.0
_LIGHT_RADIUS, _LIGHT_HEIGHT = 4.0, 10.44
_LATENTS_WITHIN = 1e-6


@dataclass(frozen=True)
class Layout:
    """Scenes in units of the renderer; n of them.

    Attributes:
        position: of the object's middle (n, 3).
        rotation: of the object (n, 3, 3).
        light: where the spotlight is (n, 3); it looks at `position`.
        object_colour: (n, 3), linear, from 0 to 1.
        light_colour: (n, 3).
        ground_colour: (n, 3).

    """

    position: Floats
    rotation: Floats
    light: Floats
    object_colour: Floats
    light_colour: Floats
    ground_colour: Floats


def check_latents(latents: npt.ArrayLike) -> Floats:
    """Require (n, 10) numbers in [−1, 1]."""
    raw = np.asarray(latents, dtype=np.float64)
    if raw.ndim != 2 or raw.shape[1] != len(LATENTS):
        raise ValueError(f"`latents` must have shape (n, {len(LATENTS)}), got {describe(raw)}")
    # Written so that NaN is refused too.
    outside = int((~(np.abs(raw) <= 1 + _LATENTS_WITHIN)).any(axis=1).sum())
    if outside:
        raise ValueError(f"`latents` must lie in [−1, 1], got {outside} of {len(raw)} row(s) outside")
    return raw


def layout(latents: npt.ArrayLike) -> Layout:
    """Say where things are in the scenes of latents (n, 10) in [−1, 1], in the order of `LATENTS`.

    >>> centre = layout(np.zeros((1, 10)))
    >>> centre.position[0].tolist(), centre.object_colour[0].tolist()
    ([0.0, 0.0, 2.22], [1.0, 0.0, 0.0])
    """
    raw = check_latents(latents)
    angle = raw * (np.pi / 2)
    light = np.stack(
        [
            _LIGHT_RADIUS * np.sin(angle[:, 6]),
            _LIGHT_RADIUS * np.cos(angle[:, 6]),
            np.full(len(raw), _LIGHT_HEIGHT),
        ],
        axis=1,
    )
    hue = angle / (2 * np.pi)
    return Layout(
        position=raw[:, :3] * REACH + (0.0, 0.0, SIZE / 2),
        rotation=rotation(angle[:, 3:6]),
        light=light,
        object_colour=colour(hue[:, 7], 1.0),
        light_colour=colour(hue[:, 8], 0.8),
        ground_colour=colour(hue[:, 9], 0.6),
    )


def rotation(angles: Floats) -> Floats:
    """Turn by Euler angles (n, 3), first about x, then y, then z: matrices (n, 3, 3)."""
    matrix = np.eye(3)
    for axis in range(3):
        cos, sin = np.cos(angles[:, axis]), np.sin(angles[:, axis])
        turn = np.zeros((len(angles), 3, 3))
        first, second = (axis + 1) % 3, (axis + 2) % 3
        turn[:, axis, axis] = 1.0
        turn[:, first, first] = turn[:, second, second] = cos
        turn[:, first, second], turn[:, second, first] = -sin, sin
        matrix = turn @ matrix
    return matrix


def colour(hue: Floats, saturation: float) -> Floats:
    """Colours (n, 3) of full value; a hue (n,) counts whole turns, so that −0.1 is 0.9."""
    # Each channel falls from 1 to 1 − saturation as the hue leaves its third of the circle.
    ramp = np.abs((hue[:, None] + np.array([0.0, 2 / 3, 1 / 3])) % 1.0 * 6 - 3) - 1
    channels: Floats = 1 - saturation * (1 - np.clip(ramp, 0.0, 1.0))
    return channels


def camera_matrix() -> Floats:
    """Map the world to the camera's clip space, (4, 4)."""
    return perspective(VIEW, 1.0, 150.0) @ look(EYE, np.zeros(3))


def perspective(half_width: float, near: float, far: float) -> Floats:
    """Project what lies between two distances; `half_width` is that of the view at distance 1."""
    matrix = np.zeros((4, 4))
    matrix[0, 0] = matrix[1, 1] = 1 / half_width
    matrix[2, 2], matrix[2, 3] = (near + far) / (near - far), 2 * near * far / (near - far)
    matrix[3, 2] = -1.0
    return matrix


def look(eye: Floats, target: Floats) -> Floats:
    """Turn the world so that it is seen from `eye` (3,) towards `target` (3,), with z up: (4, 4)."""
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross((0.0, 0.0, 1.0), back)
    length = np.linalg.norm(right)
    # Straight down, any direction serves as right.
    right = right / length if length > 1e-9 else np.array([0.0, 1.0, 0.0])
    axes = np.stack([right, np.cross(back, right), back])
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = axes, -axes @ eye
    return matrix
