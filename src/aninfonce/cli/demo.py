"""`aninfonce demo`: both losses side by side on data whose factors are known."""

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
) -> None:
    """Train InfoNCE and AnInfoNCE on the same pairs and compare what they recover.

    Ten factors on a sphere, mixed by an invertible network. Within a pair, five
    of them (content) change little, Λ = 25, and five (style) change more,
    Λ = 5. InfoNCE loses the style; AnInfoNCE recovers all ten. It takes about a
    minute on two cores.

    For example:

        aninfonce demo

        aninfonce demo --quick --seed 3 --out /tmp/demo
    """
    from aninfonce.cli.worker_context import worker_context

    worker_context()
    from rich.console import Console

    from aninfonce.cli.demo_page import write_page
    from aninfonce.cli.demo_runs import comparison_table, run_side_by_side

    runs = run_side_by_side(seed, quick=quick)
    Console().print(comparison_table(runs))
    page = write_page(runs, out, seed=seed, quick=quick)
    typer.echo(f"plots: {page}")
