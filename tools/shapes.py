"""The objects of a scene: the Utah teapot, and six more with no two orientations alike.

`python -m tools.shapes` builds them, and writes the file that `aninfonce_papers.worlds.scenes` ships.
"""

from __future__ import annotations

import numpy as np

from aninfonce_papers.worlds.scenes.shapes import FILE, FINENESS, SHAPES, SIZE, Floats, Mesh
from tools.mesh import (
    bezier,
    block,
    ellipsoid,
    fitted,
    join,
    lathe,
    sideways,
    tube,
)

# The 32 patches of Martin Newell's teapot (1975) in the form that its symmetry allows. 24 of them are quarter
# turns of six curves, given by the radius and height of their control points: rim, upper and lower body,
# knob, lid and bottom.
_TURNED = (
    ((1.4, 2.4), (1.3375, 2.53125), (1.4375, 2.53125), (1.5, 2.4)),
    ((1.5, 2.4), (1.75, 1.875), (2.0, 1.35), (2.0, 0.9)),
    ((2.0, 0.9), (2.0, 0.45), (1.5, 0.225), (1.5, 0.15)),
    ((0.0, 3.15), (0.8, 3.15), (0.0, 2.85), (0.2, 2.7)),
    ((0.2, 2.7), (0.4, 2.55), (1.3, 2.55), (1.3, 2.4)),
    ((0.0, 0.0), (1.425, 0.0), (1.5, 0.075), (1.5, 0.15)),
)
# Control points of a quarter turn, for radius 1.
_QUARTER = ((1.0, 0.0), (1.0, 0.56), (0.56, 1.0), (0.0, 1.0))
# The other eight are halves of two bent tubes. A row of control points goes from (x, z) on the inside of the
# bend to (x, z) on its outside, half as wide as the last number: seven rows, the fourth in both patches.
_HANDLE = (
    (-1.6, 2.025, -1.5, 2.25, 0.3),
    (-2.3, 2.025, -2.5, 2.25, 0.3),
    (-2.7, 2.025, -3.0, 2.25, 0.3),
    (-2.7, 1.8, -3.0, 1.8, 0.3),
    (-2.7, 1.575, -3.0, 1.35, 0.3),
    (-2.5, 1.125, -2.65, 0.9375, 0.3),
    (-2.0, 0.9, -1.9, 0.6, 0.3),
)
_SPOUT = (
    (1.7, 1.425, 1.7, 0.6, 0.66),
    (2.6, 1.425, 3.1, 0.825, 0.66),
    (2.3, 2.1, 2.4, 2.025, 0.25),
    (2.7, 2.4, 3.3, 2.4, 0.25),
    (2.8, 2.475, 3.525, 2.49375, 0.25),
    (2.9, 2.475, 3.45, 2.5125, 0.15),
    (2.8, 2.4, 3.2, 2.4, 0.15),
)


def build_mesh(name: str, fine: int) -> Mesh:
    """Build an object, its middle at the origin and its longest side 4.44 units, seen from the side."""
    builders = (_teapot, _cup, _key, _horn, _duck, _hammer, _aeroplane)
    return fitted(sideways(builders[SHAPES.index(name)](fine)), SIZE)


def teapot_patches() -> Floats:
    """Give the control points of the Utah teapot (32, 4, 4, 3), z up and the spout towards +x."""
    quarter = np.array(_QUARTER)
    patches = []
    for turn in range(4):
        rotation = np.linalg.matrix_power(np.array([[0.0, -1.0], [1.0, 0.0]]), turn)
        arc = quarter @ rotation.T
        for curve in _TURNED:
            patches.append([[(r * x, r * y, z) for x, y in arc] for r, z in curve])
    for rows in (_HANDLE, _SPOUT):
        for part in (rows[:4], rows[3:]):
            for side in (-1.0, 1.0):
                patches.append(
                    [
                        [(x, 0, z), (x, side * wide, z), (x2, side * wide, z2), (x2, 0, z2)]
                        for x, z, x2, z2, wide in part
                    ]
                )
    return np.array(patches)


def _teapot(fine: int) -> Mesh:
    return join([bezier(patch, 4 * fine) for patch in teapot_patches()])


def _cup(fine: int) -> Mesh:
    wall = lathe([(0.0, 0.1), (0.85, 0.1), (1.1, 2.2), (1.25, 2.2), (1.0, 0.0), (0.0, 0.0)], fine)
    handle = tube(
        [(1.1, 0, 1.8), (1.9, 0, 1.8), (2.0, 0, 1.0), (1.6, 0, 0.5), (1.0, 0, 0.5)],
        [0.16] * 5,
        fine,
    )
    return join([wall, handle])


def _key(fine: int) -> Mesh:
    angles = np.linspace(0, 2 * np.pi, 9)
    ring = [(-1.5 + 0.8 * np.cos(a), 0.8 * np.sin(a), 0.0) for a in angles]
    shaft = tube([(-0.8, 0, 0), (0.6, 0, 0), (2.2, 0, 0)], [0.18] * 3, fine)
    teeth = [block((2.0, 0.45, 0), (0.3, 0.9, 0.25)), block((1.4, 0.3, 0), (0.3, 0.6, 0.25))]
    bead = ellipsoid((-0.45, 0, 0.1), (0.2, 0.35, 0.45), fine)
    return join([tube(ring, [0.22] * 9, fine), shaft, bead, *teeth])


def _horn(fine: int) -> Mesh:
    turns = np.linspace(0, 1, 13)
    angle = 3.2 * np.pi * turns
    reach = 0.35 + 1.0 * turns
    path = np.stack([reach * np.cos(angle), reach * np.sin(angle), 1.6 * turns], axis=1)
    return tube(path.tolist(), (0.06 + 0.5 * turns**1.5).tolist(), fine, cells=40)


def _duck(fine: int) -> Mesh:
    body = ellipsoid((0, 0, 0), (1.3, 0.8, 0.75), fine)
    head = ellipsoid((1.1, 0, 1.15), (0.55, 0.5, 0.55), fine)
    neck = tube([(0.8, 0, 0.3), (1.0, 0, 0.7), (1.1, 0, 1.0)], [0.5, 0.35, 0.35], fine)
    beak = ellipsoid((1.75, 0, 1.05), (0.45, 0.3, 0.12), fine)
    tail = tube([(-0.9, 0, 0.2), (-1.4, 0, 0.5), (-1.7, 0, 0.95)], [0.45, 0.3, 0.0], fine)
    wings = [ellipsoid((-0.15, side * 0.78, 0.15), (0.7, 0.15, 0.4), fine) for side in (-1, 1)]
    return join([body, head, neck, beak, tail, *wings])


def _hammer(fine: int) -> Mesh:
    handle = tube([(0, 0, -1.9), (0, 0, 0.0), (0, 0, 1.2)], [0.24, 0.17, 0.17], fine)
    face = block((0.75, 0, 1.2), (0.5, 0.85, 0.85))
    neck = block((0.1, 0, 1.2), (0.9, 0.5, 0.5))
    claw = block((-0.8, 0, 1.1), (1.0, 0.5, 0.2))
    return join([handle, face, neck, claw])


def _aeroplane(fine: int) -> Mesh:
    fuselage = tube(
        [(-2.0, 0, 0.15), (-1.0, 0, 0.05), (0.5, 0, 0), (1.6, 0, 0), (2.0, 0, 0)],
        [0.1, 0.3, 0.4, 0.3, 0.0],
        fine,
    )
    wing = block((0.3, 0, -0.1), (0.8, 3.6, 0.1), taper=0.8)
    tail = block((-1.75, 0, 0.2), (0.45, 1.4, 0.08))
    fin = block((-1.8, 0, 0.6), (0.45, 0.08, 0.9), taper=0.6)
    return join([fuselage, wing, tail, fin])


def write_meshes() -> None:
    """Write all objects at both finenesses, in the precision that pictures are drawn in."""
    arrays = {}
    for name in SHAPES:
        for fine in FINENESS:
            mesh = build_mesh(name, fine)
            arrays[f"{name}/{fine}/points"] = mesh.points.astype(np.float32)
            arrays[f"{name}/{fine}/normals"] = mesh.normals.astype(np.float32)
            arrays[f"{name}/{fine}/triangles"] = mesh.triangles.astype(np.int16)
    np.savez_compressed(FILE, **arrays)  # type: ignore[arg-type]


if __name__ == "__main__":
    write_meshes()
