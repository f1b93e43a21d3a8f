"""A bar on standard error while something is fetched or drawn; it is gone when that ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import ProgressColumn


@contextmanager
def bar(name: str, *columns: ProgressColumn) -> Iterator[Callable[..., None]]:
    """Show a bar with further columns; gives what moves it, by `completed`, `total` and `description`."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    shown = (TextColumn("{task.description}"), BarColumn(bar_width=20), *columns)
    with Progress(*shown, console=Console(stderr=True), transient=True) as progress:
        yield partial(progress.update, progress.add_task(name, total=None))
