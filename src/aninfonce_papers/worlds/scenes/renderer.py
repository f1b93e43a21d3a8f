"""Pictures of scenes, drawn without a screen: by the graphics card, or by Mesa on the processor alone."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from aninfonce.extending import Pixels, check_count, describe
from aninfonce_papers.worlds.scenes import shaders
from aninfonce_papers.worlds.scenes.layout import (
    EYE,
    GROUND,
    Layout,
    camera_matrix,
    layout,
    look,
    perspective,
)
from aninfonce_papers.worlds.scenes.shapes import Floats, Integers, shape_mesh

# Longest side of the sheet on which several scenes are drawn at once. Reading pixels back waits until all
# drawing is done, so one scene at a time would be slower.
_SHEET = 1024
_SAMPLES = 4
# The cone of 35° and its soft edge, as Blender's `spot_size` and `spot_blend` have them.
_EDGE = float(np.cos(np.deg2rad(35.0 / 2)))
_CONE = (_EDGE, 0.1 * (1.0 - _EDGE))
# A little wider than the cone: the shadow map must hold all that is lit.
_LIGHT_VIEW = float(np.tan(np.deg2rad(18.5)))
# All-round light, sun, area light, spotlight; and how much of the spotlight the object mirrors.
_RATES = (0.04, 0.06, 0.05, 0.9)
_GLOSS = 0.25
_FAR = 120.0


class SceneRenderer:
    """Draws scenes of 3DIdent: an object under a spotlight, above a coloured ground.

    The same latents give the same pixels, whatever they are drawn together with. All drawing is done in a
    thread of its own, so that any thread may ask.

    Example:
        >>> renderer = SceneRenderer(32)
        >>> renderer.render(np.zeros((2, 10))).shape
        (2, 3, 32, 32)
        >>> renderer.close()

    Args:
        size: side of the pictures.
        shapes: the objects of each class, from `SHAPES`.

    """

    def __init__(self, size: int = 64, shapes: Sequence[str] = ("teapot",)) -> None:
        self.size = check_count(size, "size", minimum=8)
        self.shapes = tuple(shapes)
        if not self.shapes:
            raise ValueError("`shapes` must name at least one object, got none")
        meshes = [shape_mesh(name, 1 if self.size <= 100 else 2) for name in self.shapes]
        self._thread = ThreadPoolExecutor(1)
        try:
            self._stage: _Stage = self._thread.submit(lambda: _Stage(self.size, meshes)).result()
        except BaseException:
            self._thread.shutdown()
            raise

    def render(self, latents: npt.ArrayLike, classes: npt.ArrayLike | None = None) -> Pixels:
        """Draw scenes.

        Args:
            latents: (n, 10) in [−1, 1], in the order of `LATENTS`.
            classes: (n,), which of the shapes each shows; the first if omitted.

        Returns:
            uint8 (n, 3, size, size).

        """
        scenes = layout(latents)
        count = len(scenes.position)
        chosen = np.zeros(count, dtype=np.int64) if classes is None else np.asarray(classes, dtype=np.int64)
        if chosen.shape != (count,) or (count and not 0 <= chosen.min() <= chosen.max() < len(self.shapes)):
            raise ValueError(
                f"`classes` must be {count} numbers from 0 to {len(self.shapes) - 1}, got"
                f" {describe(chosen)}" + (f" from {chosen.min()} to {chosen.max()}" if chosen.size else "")
            )
        return self._thread.submit(self._stage.draw, scenes, chosen).result()

    def close(self) -> None:
        """Give back what the graphics driver holds."""
        self._thread.submit(self._stage.release).result()
        self._thread.shutdown()

    def __enter__(self) -> SceneRenderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Stage:
    """Everything that belongs to the driver; lives in one thread."""

    def __init__(self, size: int, meshes: Sequence[Any]) -> None:
        gl = self.context = graphics_context()
        self.size = size
        self.side = max(1, _SHEET // max(size, _shadow_side(size)))
        self.picture = gl.program(shaders.PICTURE_VERTEX, shaders.PICTURE_FRAGMENT)
        self.shade = gl.program(shaders.SHADOW_VERTEX, shaders.SHADOW_FRAGMENT)
        corners = np.array([(x, y, GROUND) for x in (-_FAR, _FAR) for y in (-_FAR, _FAR)])
        up = np.tile((0.0, 0.0, 1.0), (4, 1))
        self.ground = self._vertices(corners, up, np.array([[0, 1, 2], [1, 3, 2]]))[0]
        self.objects = [self._vertices(mesh.points, mesh.normals, mesh.triangles) for mesh in meshes]
        whole = (self.side * size, self.side * size)
        samples = min(_SAMPLES, gl.max_samples)
        self.sheet = gl.framebuffer(
            gl.renderbuffer(whole, 3, samples=samples), gl.depth_renderbuffer(whole, samples=samples)
        )
        self.plain = gl.framebuffer(gl.renderbuffer(whole, 3))
        shadows = (self.side * _shadow_side(size),) * 2
        self.depths = gl.depth_texture(shadows)
        self.depths.compare_func = "<="
        self.depths.repeat_x = self.depths.repeat_y = False
        self.shadows = gl.framebuffer(depth_attachment=self.depths)
        gl.enable(gl.DEPTH_TEST)
        self._set(camera=camera_matrix(), eye=EYE, cone=_CONE, rates=_RATES)

    def _vertices(self, points: Floats, normals: Floats, triangles: Integers) -> tuple[Any, Any]:
        """Hand a mesh over; once with normals for the picture, once without for the shadow."""
        buffer = self.context.buffer(np.hstack([points, normals]).astype("f4").tobytes())
        order = self.context.buffer(triangles.astype("i4").tobytes())
        seen = self.context.vertex_array(self.picture, [(buffer, "3f 3f", "point", "normal")], order)
        return seen, self.context.vertex_array(self.shade, [(buffer, "3f 12x", "point")], order)

    def _set(self, **values: npt.ArrayLike) -> None:
        for name, value in values.items():
            numbers = np.asarray(value, dtype="f4")
            # The driver reads matrices column by column.
            self.picture[name].write(np.ascontiguousarray(numbers.T).tobytes())

    def draw(self, scenes: Layout, classes: Integers) -> Pixels:
        pixels = np.empty((len(classes), 3, self.size, self.size), dtype=np.uint8)
        most = self.side**2
        for start in range(0, len(classes), most):
            rows = range(start, min(start + most, len(classes)))
            pixels[rows.start : rows.stop] = self._sheet_of(scenes, classes, rows)
        return pixels

    def _sheet_of(self, scenes: Layout, classes: Integers, rows: range) -> Pixels:
        placed = [_placed(scenes, row) for row in rows]
        views = [_light_view(scenes, row) for row in rows]
        self.shadows.use()
        self.shadows.viewport = (0, 0, *self.shadows.size)
        self.shadows.clear()
        for place, (row, model, view) in enumerate(zip(rows, placed, views, strict=True)):
            self.shadows.viewport = self._tile(place, _shadow_side(self.size))
            self.shade["light_place"].write(np.ascontiguousarray((view @ model).T, dtype="f4").tobytes())
            self.objects[classes[row]][1].render()
        self.depths.use(0)
        self.sheet.use()
        self.sheet.viewport = (0, 0, *self.sheet.size)
        self.sheet.clear()
        for place, (row, model, view) in enumerate(zip(rows, placed, views, strict=True)):
            self.sheet.viewport = self._tile(place, self.size)
            self._light(scenes, row, view, place)
            self._set(place=model, colour=scenes.object_colour[row], gloss=_GLOSS)
            self.objects[classes[row]][0].render()
            self._set(place=np.eye(4), colour=scenes.ground_colour[row], gloss=0.0)
            self.ground.render()
        return self._read(len(rows))

    def _light(self, scenes: Layout, row: int, view: Floats, place: int) -> None:
        ray = scenes.position[row] - scenes.light[row]
        across, up = place % self.side, place // self.side
        self._set(
            light=scenes.light[row],
            aim=ray / np.linalg.norm(ray),
            light_colour=scenes.light_colour[row],
            shadow=view,
            tile=(across / self.side, up / self.side, 1 / self.side),
        )

    def _tile(self, place: int, side: int) -> tuple[int, int, int, int]:
        return place % self.side * side, place // self.side * side, side, side

    def _read(self, count: int) -> Pixels:
        self.context.copy_framebuffer(self.plain, self.sheet)
        k, size = self.side, self.size
        sheet = np.frombuffer(self.plain.read(components=3, alignment=1), dtype=np.uint8)
        # The driver's rows run upwards, in the sheet and in each of its pictures.
        tiles = sheet.reshape(k, size, k, size, 3)[:, ::-1].transpose(0, 2, 4, 1, 3)
        pixels: Pixels = tiles.reshape(k * k, 3, size, size)[:count]
        return pixels

    def release(self) -> None:
        self.context.release()


def graphics_context() -> Any:
    """Open a drawing context without a screen, or say what is missing."""
    try:
        import moderngl
    except ImportError:
        raise ValueError("rendering needs moderngl: pip install 'aninfonce[papers]'") from None
    create: Any = moderngl.create_context  # whose own types leave out names of backends
    try:
        return create(standalone=True, backend="egl")
    # moderngl reports every failure of the driver as a plain Exception.
    except Exception as problem:
        raise ValueError(
            "rendering needs EGL and a driver, such as the Debian packages libegl1 and libgl1-mesa-dri"
            f" (apt install libegl1 libgl1-mesa-dri); opening one failed: {problem}"
        ) from None


def can_render() -> bool:
    """Tell whether this machine can draw scenes."""
    try:
        graphics_context().release()
    except ValueError:
        return False
    return True


def _shadow_side(size: int) -> int:
    """Give the side of the shadow map: finer than the picture, which shows more than the cone."""
    return min(512, max(64, 2 * size))


def _placed(scenes: Layout, row: int) -> Floats:
    model = np.eye(4)
    model[:3, :3], model[:3, 3] = scenes.rotation[row], scenes.position[row]
    return model


def _light_view(scenes: Layout, row: int) -> Floats:
    near_and_far = (2.0, 40.0)
    return perspective(_LIGHT_VIEW, *near_and_far) @ look(scenes.light[row], scenes.position[row])
