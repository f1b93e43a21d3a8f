"""One renderer for all tests, where the machine can draw."""

import pytest

from aninfonce_papers.worlds.scenes import SHAPES, SceneRenderer


@pytest.fixture(scope="session")
def renderer():
    try:
        renderer = SceneRenderer(48, SHAPES)
    except ValueError as problem:
        pytest.skip(f"nothing can be drawn here: {problem}")
    yield renderer
    renderer.close()
