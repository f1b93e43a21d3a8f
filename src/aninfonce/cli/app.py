"""All commands together. Nothing heavy is imported before a command runs, so that help comes at once."""

from __future__ import annotations

from typing import Annotated

import typer

from aninfonce import __version__
from aninfonce.cli.audit import audit
from aninfonce.cli.data import register as register_data
from aninfonce.cli.demo import demo
from aninfonce.cli.embed import embed
from aninfonce.cli.evaluate import evaluate
from aninfonce.cli.plugins import register as register_plugins
from aninfonce.cli.train import train

app = typer.Typer(
    name="aninfonce",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"aninfonce {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Recover the hidden factors behind paired data by contrastive learning.

    For example:

        aninfonce demo

        aninfonce train config.yaml

        aninfonce train --help
    """


for command in (demo, train, evaluate, embed, audit):
    app.command(no_args_is_help=command is not demo)(command)
register_data(app)
register_plugins(app)
