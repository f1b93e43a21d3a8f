"""A sweep as bars: one for all tasks with the time left, one for each that runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, TaskID, TextColumn
from rich.progress import Task as Bar
from rich.text import Text

from aninfonce_papers.engine.plan import Task
from aninfonce_papers.engine.row import Key, Row, shown_name


class SweepProgress:
    """Watches `run_sweep`.

    Args:
        tasks: that are left to run.
        seconds: estimate for each of them, by key.
        jobs: tasks at a time.
        console: to draw on.

    """

    def __init__(
        self,
        tasks: Sequence[Task],
        seconds: Mapping[Key, float],
        jobs: int = 1,
        console: Console | None = None,
    ) -> None:
        self.console = console or Console()
        self.seconds = dict(seconds)
        self.jobs = min(jobs, max(1, len(tasks)))
        self._waiting = sum(self.seconds[task.key] for task in tasks)
        self._expected = self._spent = 0.0
        self._running: dict[Key, TaskID] = {}
        self._bars = Progress(
            TextColumn("{task.description}"), BarColumn(), _Times(), console=self.console, transient=True
        )
        self._all = self._bars.add_task("sweep", total=len(tasks), left=self._waiting / self.jobs)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def started(self, task: Task) -> None:
        """Show a bar for the task."""
        estimate = max(self.seconds.get(task.key, task.experiment.seconds), 0.1)
        self._running[task.key] = self._bars.add_task(escape(task.label), total=None, estimate=estimate)

    def finished(self, task: Task, row: Row) -> None:
        """Take the bar away, leave a line, and correct the time left by what the task took."""
        if task.key in self._running:
            self._bars.remove_task(self._running.pop(task.key))
        self._expected += self.seconds[task.key]
        self._spent += row.seconds
        pace = self._spent / self._expected if self._expected > 0 else 1.0
        left = max(0.0, self._waiting - self._expected) * pace / self.jobs
        self._bars.update(self._all, advance=1, left=left)
        if row.error is None:
            told = ", ".join(
                f"{shown_name(k)} {v:.4g}"
                for k, v in list(row.metrics.items())[:3]
                if isinstance(v, int | float)
            )
            self.console.print(f"[green]✓[/] {escape(task.label)}: {escape(told)} ({row.seconds:.1f} s)")
        else:
            self.console.print(f"[red]✗[/] {escape(task.label)}: {escape(row.error)}")


class _Times(ProgressColumn):
    """Time left of the sweep, or time spent of what a task is expected to take."""

    max_refresh = 0.5

    def render(self, task: Bar) -> Text:
        elapsed = duration(task.elapsed or 0.0)
        if "left" in task.fields:
            done = f"{task.completed:.0f}/{task.total:.0f}" if task.total else ""
            return Text(f"{done} · {elapsed} · about {duration(task.fields['left'])} left")
        return Text(f"{elapsed} of about {duration(task.fields['estimate'])}")


def duration(seconds: float) -> str:
    """Write a duration in readable units.

    >>> duration(0.4), duration(75), duration(7320)
    ('0.4 s', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
