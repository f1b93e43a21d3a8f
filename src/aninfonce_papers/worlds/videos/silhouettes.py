"""Silhouettes of people: a skeleton in stride, dressed in capsules, seen from any side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aninfonce_papers.worlds.videos.masks import SIDE, Masks

Floats = npt.NDArray[np.floating[Any]]

# As shares of the body's height, like all lengths below.
_THIGH, _SHIN, _SOLE = 0.245, 0.245, 0.02
_UPPER_ARM, _FOREARM = 0.16, 0.15
# Frames that are drawn at once: their distances fit into the cache of a processor.
_CHUNK = 64
_THINNEST = 0.5


@dataclass(frozen=True)
class Figures:
    """People, one per row: where they stand, which way they face, and where they are in their stride.

    Attributes:
        x: column of the body's axis, in pixels, (N,) as all that follow.
        ground: row on which the feet stand, in pixels.
        height: in pixels.
        heading: 0 towards the camera, π/2 to the right, in radians.
        phase: of the gait, in radians.
        stride: largest angle of a thigh, in radians; 0 stands still.
        build: width, 1 for most.
        coat: 1 with a coat to the knees, else 0.
        pack: 1 with a rucksack, else 0.

    """

    x: Floats
    ground: Floats
    height: Floats
    heading: Floats
    phase: Floats
    stride: Floats
    build: Floats
    coat: Floats
    pack: Floats

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: slice | npt.NDArray[np.bool_]) -> Figures:
        """Take some of them."""
        return Figures(*(getattr(self, field.name)[rows] for field in fields(self)))


class _Joint(NamedTuple):
    """A point of the body in parts of its height: forward, to the person's left, and up."""

    forward: Floats | float
    left: Floats | float
    up: Floats | float


class _Capsule(NamedTuple):
    """All points within a radius of the line between two joints; none, if the radius is 0."""

    start: _Joint
    end: _Joint
    radius: Floats | float


def draw(figures: Figures) -> Masks:
    """Draw N people as masks (N, 64, 64); what is outside the picture is cut off.

    >>> one = np.ones(1, dtype=np.float32)
    >>> walker = Figures(32 * one, 60 * one, 50 * one, one, one, 0.4 * one, one, 0 * one, 0 * one)
    >>> mask = draw(walker)[0]
    >>> mask.shape, bool(mask[12].any()), bool(mask[5].any())
    ((64, 64), True, False)
    """
    parts = [_draw(figures[start : start + _CHUNK]) for start in range(0, len(figures), _CHUNK)]
    return np.concatenate(parts) if parts else np.zeros((0, SIDE, SIDE), dtype=bool)


def _draw(figures: Figures) -> Masks:
    masks = np.zeros((len(figures), SIDE, SIDE), dtype=bool)
    columns = np.arange(SIDE, dtype=np.float32)[None, None, :]
    rows = np.arange(SIDE, dtype=np.float32)[None, :, None]
    for part in _body(figures):
        (ax, ay), (bx, by) = (_project(joint, figures) for joint in (part.start, part.end))
        across, down = columns - ax, rows - ay
        dx, dy = bx - ax, by - ay
        along = (across * dx + down * dy) / (dx * dx + dy * dy + np.float32(1e-6))
        np.clip(along, 0, 1, out=along)
        distance = (across - along * dx) ** 2 + (down - along * dy) ** 2
        radius = np.asarray(part.radius * figures.height, dtype=np.float32)
        # A limb that is thinner than a pixel must not fall between two of them.
        radius = np.where(radius > 0, np.maximum(radius, _THINNEST), -1)
        masks |= distance <= (np.sign(radius) * radius**2)[:, None, None]
    return masks


def _project(joint: _Joint, figures: Figures) -> tuple[Floats, Floats]:
    """Give column and row of a joint, (N, 1, 1) each."""
    sideways = joint.forward * np.sin(figures.heading) + joint.left * np.cos(figures.heading)
    x = figures.x + sideways * figures.height
    y = figures.ground - joint.up * figures.height
    return x[:, None, None], y[:, None, None]


def _body(figures: Figures) -> Iterator[_Capsule]:
    build, stride = figures.build, figures.stride
    legs = [_leg(figures.phase + side * np.pi, stride) for side in (0, 1)]
    # The longer leg carries: the body rises and falls with the stride.
    hip = np.maximum(legs[0].reach, legs[1].reach) + _SOLE
    chest, lean = hip + 0.28, 0.06 * stride
    yield _Capsule(_Joint(lean, 0, hip + 0.3), _Joint(lean, 0, hip + 0.38), 0.028)
    yield _Capsule(_Joint(lean, 0, hip + 0.385), _Joint(lean, 0, hip + 0.415), 0.055)
    yield _Capsule(_Joint(lean, -0.085 * build, chest), _Joint(lean, 0.085 * build, chest), 0.04)
    back = lean - 0.085
    yield _Capsule(_Joint(back, 0, hip + 0.12), _Joint(back, 0, hip + 0.26), 0.05 * figures.pack)
    for side, leg in zip((1, -1), legs, strict=True):
        flank = 0.05 * side * build
        yield _Capsule(_Joint(lean, flank, chest - 0.02), _Joint(0, 0.8 * flank, hip), 0.058 * build)
        yield _Capsule(_Joint(0, flank, hip), _Joint(0, flank, hip - 0.2), 0.06 * build * figures.coat)
        yield from leg.parts(hip, 0.045 * side * build, build)
        yield from _arm(-leg.swing, _Joint(lean, 0.115 * side * build, chest), build, stride)


class _Leg(NamedTuple):
    """Angles of a leg in its stride."""

    swing: Floats
    shin: Floats

    @property
    def reach(self) -> Floats:
        """From the hip down to the ankle."""
        reach: Floats = _THIGH * np.cos(self.swing) + _SHIN * np.cos(self.shin)
        return reach

    def parts(self, hip: Floats, left: Floats, build: Floats) -> Iterator[_Capsule]:
        """Thigh, shin and foot."""
        knee = _Joint(_THIGH * np.sin(self.swing), left, hip - _THIGH * np.cos(self.swing))
        ankle = _Joint(knee.forward + _SHIN * np.sin(self.shin), left, hip - self.reach)
        toes = _Joint(ankle.forward + 0.09, left, ankle.up)
        yield _Capsule(_Joint(0, left, hip), knee, 0.05 * build)
        yield _Capsule(knee, ankle, 0.036 * build)
        yield _Capsule(ankle, toes, 0.022)


def _leg(phase: Floats, stride: Floats) -> _Leg:
    """Swing a leg to and fro; the knee bends while it comes forward."""
    swing = stride * np.sin(phase)
    return _Leg(swing, swing - 1.4 * stride * np.maximum(np.cos(phase), 0))


def _arm(swing: Floats, shoulder: _Joint, build: Floats, stride: Floats) -> Iterator[_Capsule]:
    bent = 0.8 * swing + 0.15 + 0.5 * stride
    elbow = _Joint(
        shoulder.forward + _UPPER_ARM * np.sin(0.8 * swing),
        shoulder.left,
        shoulder.up - _UPPER_ARM * np.cos(0.8 * swing),
    )
    hand = _Joint(elbow.forward + _FOREARM * np.sin(bent), shoulder.left, elbow.up - _FOREARM * np.cos(bent))
    yield _Capsule(shoulder, elbow, 0.028 * build)
    yield _Capsule(elbow, hand, 0.024 * build)
