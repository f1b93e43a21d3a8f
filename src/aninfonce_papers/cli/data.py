"""What this package adds to `aninfonce data`: scenes, conversions of released files, pictures of videos."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from aninfonce.extending import bar, friendly


def register(group: typer.Typer) -> None:
    """Add the commands to `aninfonce data`."""
    for command in (render, convert, sheet):
        group.command(no_args_is_help=True)(command)


@friendly
def render(
    kind: Annotated[Literal["threedident", "causal3dident"], typer.Argument(help="Which scenes.")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write to.")] = None,
    n: Annotated[int, typer.Option("--n", help="Training pictures.")] = 50_000,
    test: Annotated[
        int | None, typer.Option("--test", help="Test pictures.", show_default="a tenth as many")
    ] = None,
    size: Annotated[int, typer.Option("--size", help="Side of the pictures in pixels.")] = 64,
    seed: Annotated[int, typer.Option("--seed", help="Draws the latents.")] = 0,
    sheet: Annotated[
        Path | None, typer.Option("--sheet", help="Only a PNG that shows what each latent does.")
    ] = None,
) -> None:
    """Draw a data set of scenes with known latents, in the layout of the released one.

    A call that was stopped goes on when it is repeated.

    For example:

        aninfonce data render threedident --n 50000 --size 64 --out scenes

        aninfonce data render causal3dident --n 70000 --out causal

        aninfonce data render threedident --sheet sheet.png
    """
    from rich.progress import MofNCompleteColumn, TimeRemainingColumn

    from aninfonce_papers.worlds.scenes import contact_sheet, write_scenes

    if sheet is not None:
        typer.echo(f"what each latent does: {contact_sheet(sheet)}")
        return
    if out is None:
        raise ValueError("`out` must name a folder to write to, got none; or give `sheet`")
    with bar(kind, MofNCompleteColumn(), TimeRemainingColumn()) as update:

        def report(done: int, total: int) -> None:
            update(completed=done, total=total)

        place = write_scenes(kind, out, n, size=size, test=test, seed=seed, report=report)
    typer.echo(f"{kind}: {place}")


@friendly
def convert(
    kind: Annotated[
        Literal["kitti", "light-tunnel"], typer.Argument(help="What the file is.", show_default=False)
    ],
    file: Annotated[Path, typer.Argument(help="The released file.", show_default=False)],
    out: Annotated[
        Path, typer.Option("--out", help="File to write, .npz; for the tunnel, a folder.", show_default=False)
    ],
    experiment: Annotated[str, typer.Option(help="For the tunnel: which experiment.")] = "citris_1",
    size: Annotated[
        str, typer.Option(help="For the tunnel: size of the pictures, as in their folder's name.")
    ] = "64",
) -> None:
    """Convert KITTI Masks, or an experiment of the light tunnel, to arrays.

    Nothing in the released files is executed. `aninfonce data get light-tunnel` fetches those of the tunnel;
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


@friendly
def sheet(
    videos: Annotated[str, typer.Argument(help="A file of KITTI Masks, or `generated`.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="Picture to write, .png.", show_default=False)],
    rows: Annotated[int, typer.Option(min=1, help="Videos to show.")] = 8,
) -> None:
    """Draw a few videos as one picture, one video per row.

    For example:

        aninfonce data sheet generated --out pedestrians.png
    """
    from aninfonce_papers.worlds.videos import generate_videos, load_videos
    from aninfonce_papers.worlds.videos.contact_sheet import write_contact_sheet

    # Enough for some that are long.
    found = generate_videos(5 * rows) if videos == "generated" else load_videos(videos)
    typer.echo(f"wrote {write_contact_sheet(found, out, rows)}")
