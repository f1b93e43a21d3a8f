"""A progress bar for one training run, or several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from aninfonce.training.config import TrainingConfig
from aninfonce.training.monitor import Row
from aninfonce.training.reporters import Reporter


class ProgressBars:
    """Bars with the loss, the gap to the optimum, R² and the time left; use as a context manager.

    Args:
        console: a rich console; standard error if omitted, so that output can be piped.

    """

    def __init__(self, console: Any = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=12),
            TaskProgressColumn(),
            TextColumn("{task.fields[numbers]}"),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            console=console or Console(stderr=True),
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def start(self, name: str, steps: int) -> None:
        """Add a bar."""
        self._tasks[name] = self._progress.add_task(name, total=steps, numbers="")

    def row(self, name: str, row: Row) -> None:
        """Move a bar to the row's step and show its numbers."""
        task = self._tasks[name]
        numbers = describe_row(row, str(self._progress.tasks[task].fields["numbers"]))
        self._progress.update(task, completed=row["step"], numbers=numbers)


def describe_row(row: Row, before: str = "") -> str:
    """Summarise a row in a few words; values that it lacks are taken from the summary `before`.

    R² is that of content/style where the process has these two parts.

    Example:
        >>> describe_row({"step": 50, "loss": 3.7123}, before="loss 4.0  R² 0.900")
        'loss 3.712  R² 0.900'

    """
    parts = dict(part.rsplit(" ", 1) for part in before.split("  ") if " " in part)
    parts["loss"] = f"{row['loss']:.3f}"
    if "gap" in row:
        parts["gap"] = f"{row['gap']:+.3f}"
    if "r2_content" in row and "r2_style" in row:
        parts["R²"] = f"{row['r2_content']:.3f}/{row['r2_style']:.3f}"
    elif "r2" in row:
        parts["R²"] = f"{row['r2']:.3f}"
    return "  ".join(f"{name} {value}" for name, value in parts.items())


class ProgressBar(Reporter):
    """A bar for one run, to give to `fit` as a reporter.

    Args:
        name: shown before the bar.

    """

    def __init__(self, name: str = "training") -> None:
        self._bars = ProgressBars()
        self._name = name

    def start(self, config: TrainingConfig, history: Sequence[Row]) -> None:
        """Show the bar, at the last row of a resumed run."""
        self._bars.__enter__()
        self._bars.start(self._name, config.recipe.steps)
        if history:
            self.row(history[-1])

    def row(self, row: Row) -> None:
        """Move the bar."""
        self._bars.row(self._name, row)

    def finish(self) -> None:
        """Leave the bar as it stands."""
        self._bars.__exit__()
