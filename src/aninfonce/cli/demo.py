"""`aninfonce demo`: both losses side by side on data whose factors are known, or a recording."""

from __future__ import annotations

import json
import multiprocessing
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from aninfonce.cli.errors import friendly

# Imported by the server that all workers are forked from. It runs nothing, so that no thread is forked.
_PRELOAD = ["aninfonce.training.loop", "aninfonce.processes", "lightning_fabric"]


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
    numbers, page = (_show_recording if recording else _show_losses)(seed, quick, command)

    from aninfonce._files import write_whole

    write_whole(out / "results.json", json.dumps(numbers, indent=1, ensure_ascii=False))
    write_whole(out / "index.html", page)
    typer.echo(f"pictures: {out / 'index.html'}")


def _show_losses(seed: int, quick: bool, command: str) -> tuple[Any, str]:
    """Print a table of both losses; gives the numbers behind it, and the page."""
    worker_context()
    from rich.console import Console

    from aninfonce.cli.demo_page import render_page
    from aninfonce.cli.demo_runs import comparison_table, run_side_by_side

    runs = run_side_by_side(seed, quick=quick)
    Console().print(comparison_table(runs))
    return [asdict(run) for run in runs], render_page(runs, command=command)


def _show_recording(seed: int, quick: bool, command: str) -> tuple[Any, str]:
    """Print a table of the recording; gives the numbers behind it, and the page."""
    from rich.console import Console

    from aninfonce.cli.demo_recording import recording_table, render_recording_page, run_recording

    console = Console()
    with console.status("fitting ContrastiveICA to the recording"):
        found = run_recording(seed, quick=quick)
    console.print(recording_table(found))
    return asdict(found), render_recording_page(found, command=command)


def worker_context() -> Any:
    """Choose how workers are started: by a fork server where the system has one, else from scratch.

    The first call starts the server without waiting for it.
    """
    # One thread per worker, also in numpy's libraries: idle threads would spin on the other worker's core.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver

    forkserver.set_forkserver_preload(_PRELOAD)
    forkserver.ensure_running()
    return multiprocessing.get_context("forkserver")
