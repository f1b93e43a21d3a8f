"""A picture of videos: one per row, some of its frames side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aninfonce.extending import Pixels, check_count, whole_file
from aninfonce_papers.worlds.videos.masks import MaskVideos

_LINE = 96


def contact_sheet(videos: MaskVideos, rows: int = 8, frames: int = 10, *, every: int = 3) -> Pixels:
    """Lay out the first videos that are long enough.

    Example:
        >>> from aninfonce_papers.worlds.videos import generate_videos
        >>> contact_sheet(generate_videos(8), rows=2, frames=3, every=1).shape
        (131, 196)

    Args:
        videos: to show.
        rows: how many of them, at most.
        frames: of each.
        every: frames between two that are shown.

    Returns:
        Grey values (rows·65 + 1, frames·65 + 1) with lines between frames.

    """
    check_count(rows, "rows")
    needed = (check_count(frames, "frames") - 1) * check_count(every, "every") + 1
    chosen = [masks[:needed:every] for masks in videos.masks if len(masks) >= needed][:rows]
    if not chosen:
        longest = max(map(len, videos.masks))
        raise ValueError(f"`videos` must hold one of {needed} frames or more, got {longest} at most")
    # A line before each frame, above and to its left, and after the last.
    tiles = np.pad(np.uint8(255) * np.stack(chosen), ((0, 0), (0, 0), (1, 0), (1, 0)), constant_values=_LINE)
    sheet = tiles.swapaxes(1, 2).reshape(len(chosen) * tiles.shape[2], -1)
    return np.pad(sheet, (0, 1), constant_values=_LINE)


def write_contact_sheet(videos: MaskVideos, path: str | Path, rows: int = 8) -> Path:
    """Write a contact sheet as a PNG file."""
    from matplotlib.image import imsave

    with whole_file(path) as temporary:
        imsave(temporary, contact_sheet(videos, rows), cmap="gray", vmin=0, vmax=255, format="png")
    return Path(path)
