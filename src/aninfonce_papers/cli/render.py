"""`aninfonce data render`: scenes of 3DIdent and Causal3DIdent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from aninfonce.extending import friendly


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
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from aninfonce_papers.worlds.scenes import contact_sheet, write_scenes

    if sheet is not None:
        typer.echo(f"what each latent does: {contact_sheet(sheet)}")
        return
    if out is None:
        raise ValueError("`out` must name a folder to write to, got none; or give `sheet`")
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task(kind, total=None)

        def report(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        place = write_scenes(kind, out, n, size=size, test=test, seed=seed, report=report)
    typer.echo(f"{kind}: {place}")
