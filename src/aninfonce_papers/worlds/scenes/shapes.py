"""The objects of a scene: the Utah teapot, and six more with no two orientations alike.

Their triangles are shipped; `tools/shapes.py` builds them from formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aninfonce.extending import check_choice

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# In the order of the classes of Causal3DIdent's files, whose own are animals, a head and the same teapot.
SHAPES = ("teapot", "cup", "key", "horn", "duck", "hammer", "aeroplane")
# Longest side of every object, in units of the scene.
SIZE = 4.44
# How finely objects are cut into triangles: 1 is enough for pictures of 100 pixels.
FINENESS = (1, 2)
FILE = Path(__file__).with_name("shapes.npz")


@dataclass(frozen=True)
class Mesh:
    """A surface of triangles; which side of a triangle is outside is left open.

    Attributes:
        points: (k, 3).
        normals: of unit length (k, 3).
        triangles: rows of `points` (m, 3).

    """

    points: Floats
    normals: Floats
    triangles: Integers


def shape_mesh(name: str, fine: int = 1) -> Mesh:
    """Give an object, its middle at the origin and its longest side 4.44 units, seen from the side.

    Example:
        >>> teapot = shape_mesh("teapot")
        >>> extent = np.ptp(teapot.points, axis=0)
        >>> round(float(extent.max()), 2), int(extent.argmax())  # from handle to spout, along y
        (4.44, 1)

    Args:
        name: one of `SHAPES`.
        fine: how finely it is cut into triangles, one of `FINENESS`.

    """
    check_choice(name, "name", SHAPES)
    if fine not in FINENESS:
        raise ValueError(f"`fine` must be one of {FINENESS}, got {fine!r}")
    with np.load(FILE) as arrays:
        points, normals, triangles = (
            arrays[f"{name}/{fine}/{part}"] for part in ("points", "normals", "triangles")
        )
    return Mesh(points.astype(np.float64), normals.astype(np.float64), triangles.astype(np.int64))
