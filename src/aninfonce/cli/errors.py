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
            raise _said(f"{stop}{hint}", 128 + stop.signal, "yellow") from None
        except NonFiniteLoss as problem:
            raise _said(f"error: {problem}", 1) from None
        except OSError as problem:
            named = problem.filename is not None and problem.strerror is not None
            why = f"{problem.filename}: {problem.strerror}" if named else str(problem)
            raise _said(f"error: {why}", 2) from None
        except (MemoryError, RuntimeError) as problem:
            # torch has no error of its own for it on the CPU.
            if not isinstance(problem, MemoryError) and "allocate memory" not in str(problem):
                raise
            first = str(problem).splitlines()[0]
            raise _said(f"error: there is not enough memory: {first}", 1) from None
        except ValueError as problem:
            raise _said(f"error: {problem}", 2) from None

    return wrapped


def _said(message: str, code: int, colour: str = "red") -> typer.Exit:
    """Print a message; gives the exit to leave by."""
    typer.secho(message, fg=colour, err=True)
    return typer.Exit(code)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.secho(f"warning: {message}", fg="yellow", err=True)
