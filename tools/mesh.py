"""Triangles from formulas: curved surfaces on a grid, tubes, bodies of revolution and blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from aninfonce_papers.worlds.scenes.shapes import Floats, Mesh

Point = Callable[[Floats, Floats], Floats]
"""From two parameters in [0, 1], each (k,), to points (k, 3)."""

# Distance of the two points that a tangent is taken from. At a pole the rows of a grid meet in one point:
# tangents are taken this far inside instead.
_STEP = 1e-4


def surface(point: Point, rows: int, columns: int) -> Mesh:
    """Lay a grid of triangles on a curved surface.

    Example:
        >>> bowl = surface(lambda u, v: np.stack([u, v, u * u + v * v], axis=1), 4, 4)
        >>> bowl.points.shape, bowl.triangles.shape
        ((25, 3), (32, 3))

    Args:
        point: the surface.
        rows: cells along its first parameter.
        columns: cells along its second.

    Returns:
        The mesh, with normals from the formula rather than from the triangles.

    """
    grid = np.meshgrid(np.linspace(0, 1, rows + 1), np.linspace(0, 1, columns + 1), indexing="ij")
    u, v = (axis.ravel() for axis in grid)
    # For tangents only: strictly inside, so that both neighbours exist.
    inner_u, inner_v = (np.clip(axis, 2 * _STEP, 1 - 2 * _STEP) for axis in (u, v))
    along_u = point(inner_u + _STEP, inner_v) - point(inner_u - _STEP, inner_v)
    along_v = point(inner_u, inner_v + _STEP) - point(inner_u, inner_v - _STEP)
    normals = np.cross(along_u, along_v)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    corner = (np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)).ravel()
    first = np.stack([corner, corner + 1, corner + columns + 1], axis=1)
    second = np.stack([corner + 1, corner + columns + 2, corner + columns + 1], axis=1)
    return Mesh(point(u, v), normals, np.concatenate([first, second]))


def bezier(control: Floats, cells: int) -> Mesh:
    """Cut a bicubic Bézier patch of control points (4, 4, 3) into triangles, `cells` along each side."""

    def basis(t: Floats) -> Floats:
        s = 1 - t
        return np.stack([s**3, 3 * s * s * t, 3 * s * t * t, t**3], axis=1)

    return surface(lambda u, v: np.einsum("ka,kb,abc->kc", basis(u), basis(v), control), cells, cells)


def tube(path: Sequence[Sequence[float]], radii: Sequence[float], fine: int = 1, cells: int = 14) -> Mesh:
    """Bend a round tube along a smooth path.

    Args:
        path: points that the middle of the tube passes through, at least two.
        radii: of the tube at each of them; 0 at an end closes it.
        fine: multiplies the number of cells.
        cells: along the path; there are 10 around it.

    """
    from scipy.interpolate import CubicSpline, PchipInterpolator

    places = np.linspace(0, 1, len(path))
    middle, width = CubicSpline(places, np.asarray(path, dtype=float)), PchipInterpolator(places, radii)
    # One fixed direction that no tangent comes close to keeps the tube from twisting.
    tangents = middle(np.linspace(0, 1, 50), 1)
    reference = np.linalg.svd(tangents)[2][-1]

    def point(u: Floats, v: Floats) -> Floats:
        along = middle(u, 1)
        side = np.cross(along, reference)
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        up = np.cross(side, along)
        up /= np.linalg.norm(up, axis=1, keepdims=True)
        angle = 2 * np.pi * v[:, None]
        around_it: Floats = middle(u) + width(u)[:, None] * (np.cos(angle) * side + np.sin(angle) * up)
        return around_it

    return surface(point, fine * cells, fine * 10)


def lathe(profile: Sequence[tuple[float, float]], fine: int = 1) -> Mesh:
    """Turn a line of straight pieces about the z axis; its corners stay sharp.

    Args:
        profile: (radius, height) of its corners.
        fine: multiplies the number of cells, 3 along each piece and 20 around the axis.

    """

    def piece(start: tuple[float, float], end: tuple[float, float]) -> Point:
        def point(u: Floats, v: Floats) -> Floats:
            radius, height = (a + (b - a) * u for a, b in zip(start, end, strict=True))
            angle = 2 * np.pi * v
            return np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)

        return point

    return join([surface(piece(start, end), 3 * fine, 20 * fine) for start, end in pairwise(profile)])


def ellipsoid(centre: Sequence[float], radii: Sequence[float], fine: int = 1) -> Mesh:
    """Make an ellipsoid with its axes along x, y and z, of 8 × 16 cells times `fine`."""

    def point(u: Floats, v: Floats) -> Floats:
        polar, angle = np.pi * u, 2 * np.pi * v
        unit = np.stack([np.sin(polar) * np.cos(angle), np.sin(polar) * np.sin(angle), np.cos(polar)], axis=1)
        placed: Floats = np.asarray(centre) + np.asarray(radii) * unit
        return placed

    return surface(point, 8 * fine, 16 * fine)


def block(centre: Sequence[float], sides: Sequence[float], taper: float = 1.0) -> Mesh:
    """Make a block with flat sides; the one at the largest x is `taper` times as high and wide."""
    faces = []
    for axis in range(3):
        for end in (-1.0, 1.0):

            def point(u: Floats, v: Floats, axis: int = axis, end: float = end) -> Floats:
                corner = np.empty((len(u), 3))
                corner[:, axis] = end
                corner[:, (axis + 1) % 3], corner[:, (axis + 2) % 3] = 2 * u - 1, 2 * v - 1
                corner[:, 1:] *= 1 + (taper - 1) * (corner[:, :1] + 1) / 2
                placed: Floats = np.asarray(centre) + corner * np.asarray(sides) / 2
                return placed

            faces.append(surface(point, 1, 1))
    return join(faces)


def join(parts: Sequence[Mesh]) -> Mesh:
    """Put several meshes into one."""
    offsets = np.cumsum([0, *(len(part.points) for part in parts[:-1])])
    return Mesh(
        np.concatenate([part.points for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.triangles + offset for part, offset in zip(parts, offsets, strict=True)]),
    )


def fitted(mesh: Mesh, size: float) -> Mesh:
    """Move the middle of a mesh's bounding box to the origin and scale its longest side to `size`."""
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    scale = size / float((high - low).max())
    return Mesh((mesh.points - (low + high) / 2) * scale, mesh.normals, mesh.triangles)


def sideways(mesh: Mesh) -> Mesh:
    """Turn a mesh by a quarter about z: what points to +x then points to +y, right in the picture."""
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    return Mesh(mesh.points @ turn.T, mesh.normals @ turn.T, mesh.triangles)
