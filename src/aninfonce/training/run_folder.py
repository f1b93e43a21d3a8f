"""The folder of a run: it belongs to one configuration, and while it trains to one process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from aninfonce._settings import by_path
from aninfonce.training.checkpoints import CheckpointError, checkpoints_in, tidy_checkpoints
from aninfonce.training.config import TrainingConfig, identity, stored_config

if TYPE_CHECKING:
    from lightning_fabric import Fabric

CONFIG, ROWS, TABLE = "config.json", "metrics.jsonl", "metrics.csv"
_LOCK = ".lock"


@contextmanager
def claim(directory: Path, config: TrainingConfig, *, resume: bool, overwrite: bool) -> Iterator[None]:
    """Lock the folder of a run: no other process may train there in the meantime.

    The system releases the lock with the process, even one that is killed; what such a process left
    unfinished is removed. A `CheckpointError` says why a folder cannot be used.

    Args:
        directory: created if needed.
        config: of the run that is about to start.
        resume: whether the run that the folder holds is to go on.
        overwrite: whether it is to be removed.

    """
    directory.mkdir(parents=True, exist_ok=True)
    lock = FileLock(directory / _LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise CheckpointError(
            f"{directory} is in use by another training: wait for it to end, or choose another folder"
        ) from None
    try:
        refuse_taken(directory, resume=resume, overwrite=overwrite)
        tidy_checkpoints(directory)
        if overwrite:
            _remove_run(directory)
        elif (found := _settings_in(directory)) is not None:
            check_settings(found, config, directory)
        yield
    finally:
        lock.release()


@contextmanager
def claim_for_all(
    fabric: Fabric, directory: Path | None, config: TrainingConfig, *, resume: bool, overwrite: bool
) -> Iterator[None]:
    """Lock the folder of a run, if it has one: the first process does, and all raise if that fails."""
    with ExitStack() as held:
        problem: Exception | None = None
        if directory is not None and fabric.is_global_zero:
            try:
                held.enter_context(claim(directory, config, resume=resume, overwrite=overwrite))
            except (ValueError, OSError) as found:
                problem = found
        problem = fabric.broadcast(problem)
        if problem is not None:
            raise problem
        yield


def refuse_taken(directory: Path, *, resume: bool, overwrite: bool) -> None:
    """Refuse a folder that holds a run, unless it is to be resumed or overwritten."""
    if resume and overwrite:
        raise CheckpointError("`resume` and `overwrite` exclude each other: go on with the run, or remove it")
    if not (resume or overwrite) and _holds_run(directory):
        raise CheckpointError(
            f"{directory} already holds a run: add --resume (in Python resume=True) to go on with it,"
            " --overwrite (overwrite=True) to remove it, or choose another folder"
        )


def check_settings(found: dict[str, Any], config: TrainingConfig, where: Path | str) -> None:
    """Refuse to go on with a run that has other settings.

    Args:
        found: settings of the run that is there, as JSON types; those left out have their defaults.
        config: settings of the run that is about to go on.
        where: the run's place, for the message.

    """
    try:
        theirs = by_path(identity(stored_config(found)))
    except ValueError as problem:
        raise CheckpointError(f"{where} holds a run whose settings cannot be read: {problem}") from None
    ours = by_path(identity(config))
    changed = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    if changed:
        raise CheckpointError(
            f"{where} is of a run with other settings ({', '.join(changed)}): resume with the same"
            " configuration, or choose another folder"
        )


def _holds_run(directory: Path) -> bool:
    """Whether anything of a run would be lost if another started here."""
    rows = directory / ROWS
    return bool(checkpoints_in(directory)) or (rows.exists() and rows.stat().st_size > 0)


def _settings_in(directory: Path) -> dict[str, Any] | None:
    """Read the settings of the run that is here; None if there is none, or none that can be read."""
    try:
        settings = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return settings if _holds_run(directory) and isinstance(settings, dict) else None


def _remove_run(directory: Path) -> None:
    """Remove what runs write, and nothing else."""
    for checkpoint in checkpoints_in(directory):
        shutil.rmtree(checkpoint)
    for name in (ROWS, TABLE, CONFIG):
        (directory / name).unlink(missing_ok=True)
