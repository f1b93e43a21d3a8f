"""`aninfonce data sheet`: videos of silhouettes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aninfonce.extending import friendly


def register(group: typer.Typer) -> None:
    """Add the command to `aninfonce data`."""
    group.command("sheet", no_args_is_help=True)(sheet)


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
