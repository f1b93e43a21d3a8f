"""`aninfonce data convert`: files as their makers released them, brought into arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from aninfonce.extending import friendly


def register(group: typer.Typer) -> None:
    """Add the command to `aninfonce data`."""
    group.command("convert", no_args_is_help=True)(convert)


@friendly
def convert(
    kind: Annotated[
        Literal["kitti", "light-tunnel"], typer.Argument(help="What the file is.", show_default=False)
    ],
    file: Annotated[Path, typer.Argument(help="As released.", show_default=False)],
    out: Annotated[
        Path, typer.Option("--out", help="File to write, .npz; of the tunnel, a folder.", show_default=False)
    ],
    experiment: Annotated[str, typer.Option(help="Of the tunnel: which one.")] = "citris_1",
    size: Annotated[str, typer.Option(help="Of the tunnel's pictures, as their folder is called.")] = "64",
) -> None:
    """Convert KITTI Masks, or an experiment of the light tunnel, to arrays.

    Nothing in the released files is executed. Of the tunnel, which `aninfonce data get light-tunnel` fetches,
    pictures go to x.npy, settings to z.npy and what the sensors read to readings.npy.

    For example:

        aninfonce data convert kitti kitti_peds_v2.pickle --out kitti.npz

        aninfonce data convert light-tunnel lt_crl_benchmark_v1.zip --experiment uniform --out tunnel
    """
    if kind == "light-tunnel":
        from aninfonce.datasets import convert_chamber

        typer.echo(f"{convert_chamber(file, experiment, out, size=size)}: {experiment}")
        return
    from aninfonce_papers.worlds.videos import load_videos, save_videos

    videos = load_videos(file)
    path = save_videos(videos, out)
    typer.echo(f"{path}: {len(videos)} videos, {videos.frames} frames")
