"""`aninfonce demo`: both losses side by side on data whose factors are known, or a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aninfonce.cli.errors import friendly


@friendly
def demo(
    out: Annotated[Path, typer.Option(help="Folder for index.html and the numbers.")] = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="Draws mixing, weights and pairs.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="About 10 seconds, with rougher results.")] = False,
    recording: Annotated[
        bool, typer.Option("--recording", help="Sources of a recording in place of the two losses.")
    ] = False,
) -> None:
    """Train InfoNCE and AnInfoNCE on the same pairs and compare what they recover.

    Ten factors on a sphere, mixed by an invertible network. Within a pair, five
    of them (content) change little, Λ = 25, and five (style) change more,
    Λ = 5. InfoNCE loses the style; AnInfoNCE recovers all ten. It takes about a
    minute on two cores.

    With --recording: five sources that forget at different rates, bent and mixed
    into a recording, as PCA and as ContrastiveICA find them.

    For example:

        aninfonce demo

        aninfonce demo --recording --out recording

        aninfonce demo --quick --seed 3 --out /tmp/demo
    """
    command = (
        f"aninfonce demo{' --recording' if recording else ''} --seed {seed}{' --quick' if quick else ''}"
    )
    page = (_show_recording if recording else _show_losses)(out, seed, quick, command)
    typer.echo(f"pictures: {page}")


def _show_losses(out: Path, seed: int, quick: bool, command: str) -> Path:
    from aninfonce.cli.worker_context import worker_context

    worker_context()
    from rich.console import Console

    from aninfonce.cli.demo_page import write_page
    from aninfonce.cli.demo_runs import comparison_table, run_side_by_side

    runs = run_side_by_side(seed, quick=quick)
    Console().print(comparison_table(runs))
    return write_page(runs, out, command=command)


def _show_recording(out: Path, seed: int, quick: bool, command: str) -> Path:
    from rich.console import Console

    from aninfonce.cli.demo_recording import recording_table, run_recording, write_recording_page

    console = Console()
    with console.status("fitting ContrastiveICA to the recording"):
        found = run_recording(seed, quick=quick)
    console.print(recording_table(found))
    return write_recording_page(found, out, command=command)
