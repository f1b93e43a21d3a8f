"""User errors as one line, not a traceback."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec

import typer

P = ParamSpec("P")


def friendly(command: Callable[P, None]) -> Callable[P, None]:
    """Turn errors that a user can fix into a message and an exit code.

    2: bad input, 1: the training failed, 128 + n: stopped by signal n.
    """

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        from aninfonce.training.errors import NonFiniteLoss, TrainingInterrupted

        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                command(*args, **kwargs)
        except TrainingInterrupted as stop:
            hint = "; run the same command with --resume to go on" if stop.checkpoint else ""
            _say(f"{stop}{hint}", "yellow")
            raise typer.Exit(128 + stop.signal) from None
        except NonFiniteLoss as problem:
            _say(f"error: {problem}", "red")
            raise typer.Exit(1) from None
        except OSError as problem:
            named = problem.filename is not None and problem.strerror is not None
            _say(f"error: {problem.filename}: {problem.strerror}" if named else f"error: {problem}", "red")
            raise typer.Exit(2) from None
        except (MemoryError, RuntimeError) as problem:
            # torch has no error of its own for it on the CPU.
            if not isinstance(problem, MemoryError) and "allocate memory" not in str(problem):
                raise
            _say(f"error: there is not enough memory: {str(problem).splitlines()[0]}", "red")
            raise typer.Exit(1) from None
        except ValueError as problem:
            _say(f"error: {problem}", "red")
            raise typer.Exit(2) from None

    return wrapped


def _say(message: str, colour: str) -> None:
    typer.secho(message, fg=colour, err=True)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(f"warning: {message}", "yellow")
