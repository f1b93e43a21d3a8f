"""What this package adds to the command `aninfonce`, through the entry point group `aninfonce.commands`."""

from __future__ import annotations

from importlib.util import find_spec

import typer

_NEEDED = ("joblib", "kornia", "moderngl", "PIL")


def register(app: typer.Typer) -> None:
    """Add the commands to the application; an `ImportError` if what they need is not installed."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise ImportError(f"the papers need {', '.join(missing)}: pip install 'aninfonce[papers]'")
    from aninfonce_papers.cli import data, studies

    studies.register(app)
    for group in app.registered_groups:
        if group.name == "data" and group.typer_instance is not None:
            data.register(group.typer_instance)
