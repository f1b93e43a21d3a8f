"""Commands of packages built on this one, which join through the entry point group `aninfonce.commands`."""

from __future__ import annotations

from importlib.metadata import entry_points

import typer

from aninfonce.cli.errors import friendly

GROUP = "aninfonce.commands"
# Commands of the papers' package, which say how to get it where it is missing.
_OF_PAPERS = {
    "list": "List the tables and figures of the papers",
    "run": "Run a table or a figure of the papers",
    "report": "Write results beside the published values",
}


def register(app: typer.Typer) -> None:
    """Add the commands of all installed packages to the application."""
    for found in sorted(entry_points(group=GROUP)):
        try:
            found.load()(app)
        except ImportError:  # what the package needs was not installed with it
            continue
    there = {command.name or getattr(command.callback, "__name__", "") for command in app.registered_commands}
    for name, title in _OF_PAPERS.items():
        if name not in there:
            _register_missing(app, name, title)


def _register_missing(app: typer.Typer, name: str, title: str) -> None:
    """Add a command that says how to get the package that has it."""

    @friendly
    def missing() -> None:
        raise ValueError(f'`aninfonce {name}` comes with the papers: pip install "aninfonce[papers]"')

    app.command(
        name,
        help=f'{title}; needs pip install "aninfonce[papers]".\n\nFor example:\n\n    aninfonce {name}',
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(missing)
