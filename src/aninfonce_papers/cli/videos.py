"""`aninfonce data convert` and `data sheet`: videos of silhouettes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from aninfonce.extending import friendly


def register(group: typer.Typer) -> None:
    """Add the commands to `aninfonce data`."""
    group.command("convert", no_args_is_help=True)(convert)
    group.command("sheet", no_args_is_help=True)(sheet)


@friendly
def convert(
    kind: Annotated[Literal["kitti"], typer.Argument(help="What the file is.", show_default=False)],
    file: Annotated[Path, typer.Argument(help="As released.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="File to write, .npz.", show_default=False)],
) -> None:
    """Convert KITTI Masks to arrays that hold no pickles; nothing in the released file is executed.

    For example:

        aninfonce data convert kitti kitti_peds_v2.pickle --out kitti.npz
    """
    from aninfonce_papers.worlds.videos import load_videos, save_videos

    videos = load_videos(file)
    path = save_videos(videos, out)
    typer.echo(f"{path}: {len(videos)} videos, {videos.frames} frames")


@friendly
def sheet(
    videos: Annotated[str, typer.Argument(help="A file of KITTI Masks, or `generated`.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="Picture to write, .png.", show_default=False)],
    rows: Annotated[int, typer.Option(min=1, help="Videos to show.")] = 8,
) -> None:
    """Draw a few videos, one a row, as one picture.

    For example:

        aninfonce data sheet generated --out pedestrians.png
    """
    from aninfonce_papers.worlds.videos import generate_videos, load_videos
    from aninfonce_papers.worlds.videos.contact_sheet import write_contact_sheet

    # Enough for some that are long.
    found = generate_videos(5 * rows) if videos == "generated" else load_videos(videos)
    typer.echo(f"wrote {write_contact_sheet(found, out, rows)}")
