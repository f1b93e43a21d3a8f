"""A contact sheet: what each latent does to the picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aninfonce.extending import pillow, whole_file
from aninfonce_papers.worlds.scenes.layout import LATENTS
from aninfonce_papers.worlds.scenes.renderer import SceneRenderer
from aninfonce_papers.worlds.scenes.shapes import SHAPES

_MARGIN = 92
# Side of a picture in pixels.
_SIZE = 72


def contact_sheet(path: str | Path) -> Path:
    """Draw a PNG: one row per latent, from −1 to 1 with all others fixed, and a last row of the objects."""
    from PIL import ImageDraw

    size, columns = _SIZE, len(SHAPES)
    # Turned a little out of the symmetric view.
    base = np.zeros((columns, len(LATENTS)))
    base[:, 4:6] = -0.1, 0.2
    rows = []
    for latent in range(len(LATENTS)):
        row = base.copy()
        row[:, latent] = np.linspace(-1, 1, columns)
        rows.append(row)
    classes = np.zeros((len(rows) + 1, columns), dtype=np.int64)
    classes[-1] = np.arange(columns)
    with SceneRenderer(size, SHAPES) as renderer:
        pixels = renderer.render(np.concatenate([*rows, base]), classes.ravel())
    tiles = pixels.reshape(*classes.shape, 3, size, size).transpose(0, 3, 1, 4, 2)
    pictures = pillow().fromarray(tiles.reshape(len(classes) * size, columns * size, 3))
    sheet = pillow().new("RGB", (_MARGIN + pictures.width, pictures.height), "white")
    sheet.paste(pictures, (_MARGIN, 0))
    pen = ImageDraw.Draw(sheet)
    for place, name in enumerate((*LATENTS, "objects")):
        pen.text((4, place * size + size // 2 - 6), name, fill="black")
    with whole_file(path) as temporary:
        sheet.save(temporary, optimize=True)
    return Path(path)
