"""Objects are whole, of one size, and look different from every side."""

import numpy as np
import pytest
from tools.shapes import build_mesh, teapot_patches

from aninfonce_papers.worlds.scenes import SHAPES, shape_mesh
from aninfonce_papers.worlds.scenes.layout import colour, layout, rotation


@pytest.mark.parametrize("name", SHAPES)
def test_meshes(name):
    mesh = build_mesh(name, 1)
    assert np.ptp(mesh.points, axis=0).max() == pytest.approx(4.44)
    assert np.allclose(mesh.points.min(axis=0) + mesh.points.max(axis=0), 0, atol=1e-9)
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1)
    assert mesh.triangles.max() == len(mesh.points) - 1
    assert len(shape_mesh(name, 2).triangles) >= len(mesh.triangles)


@pytest.mark.parametrize("fine", [1, 2])
@pytest.mark.parametrize("name", SHAPES)
def test_the_shipped_file_is_what_the_tool_builds(name, fine):
    built, shipped = build_mesh(name, fine), shape_mesh(name, fine)
    np.testing.assert_allclose(shipped.points, built.points, rtol=0, atol=1e-6)
    np.testing.assert_allclose(shipped.normals, built.normals, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(shipped.triangles, built.triangles)


def test_bad_names_are_refused():
    with pytest.raises(ValueError, match="did you mean 'teapot'"):
        shape_mesh("teapto")
    with pytest.raises(ValueError, match="`fine` must be one of"):
        shape_mesh("teapot", 3)


def test_the_teapot_is_newells():
    """Known of the original: 32 patches, 3.15 high, from −3 to 3.525 in its control points, and closed."""
    patches = teapot_patches()
    assert patches.shape == (32, 4, 4, 3)
    flat = patches.reshape(-1, 3)
    assert flat.min(axis=0).tolist() == [-3.0, -2.0, 0.0]
    assert flat.max(axis=0).tolist() == [3.525, 2.0, 3.15]
    # Neighbouring patches share edges: each edge of the body is there twice.
    edges = [patch[i] if i in (0, 3) else patch[:, j] for patch in patches for i, j in ((0, 0), (3, 0))]
    assert len({np.round(edge, 9).tobytes() for edge in edges}) < len(edges)


def test_turns_are_about_x_then_y_then_z():
    quarter = np.pi / 2
    for angles, start, end in (
        ((quarter, 0, 0), (0, 1, 0), (0, 0, 1)),
        ((0, quarter, 0), (0, 0, 1), (1, 0, 0)),
        ((0, 0, quarter), (1, 0, 0), (0, 1, 0)),
        ((quarter, 0, quarter), (0, 1, 0), (0, 0, 1)),
    ):
        (matrix,) = rotation(np.array([angles]))
        assert np.allclose(matrix @ start, end)


def test_places_and_colours():
    latents = np.zeros((1, 10))
    latents[0, :3], latents[0, 6] = (1, -1, 1), 1
    scene = layout(latents)
    assert np.allclose(scene.position, [[3, -3, 5.22]])
    assert np.allclose(scene.light, [[4, 0, 10.44]])
    assert np.allclose(
        colour(np.array([0, 1 / 3, -1 / 3, 1 / 6]), 1.0), [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]]
    )
    assert np.allclose(colour(np.array([0.0]), 0.6), [[1, 0.4, 0.4]])
