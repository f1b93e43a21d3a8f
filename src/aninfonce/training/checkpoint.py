"""Checkpoints on disk: tensors in safetensors, the rest in JSON; whole or not there at all.

A run's directory holds `checkpoints/step-00000500/` with `tensors.safetensors` and `state.json`, the newest
and the one before. A checkpoint is written under another name, brought to the disk, and renamed. Nothing in
it is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

# Raise when a reader of the last version would misread what is written.
FORMAT = 1

_FOLDER = "checkpoints"
_TENSORS = "tensors.safetensors"
_FACTS = "state.json"


class CheckpointError(ValueError):
    """A checkpoint that cannot be used, and why."""


@dataclass(frozen=True)
class Snapshot:
    """The content of a checkpoint.

    Attributes:
        tensors: by name, on the CPU.
        facts: everything else, as JSON types.

    """

    tensors: dict[str, Tensor]
    facts: dict[str, Any]


def save_snapshot(directory: Path, step: int, snapshot: Snapshot, keep: int = 2) -> Path:
    """Write a checkpoint atomically and remove all but the newest `keep`.

    Args:
        directory: of the run.
        step: steps done; gives the checkpoint its name.
        snapshot: what to write.
        keep: checkpoints to leave.

    Returns:
        Path of the checkpoint.

    """
    path = checkpoint_path(directory, step)
    write_snapshot(path, snapshot)
    for old in checkpoints_in(directory)[:-keep]:
        shutil.rmtree(old, ignore_errors=True)
    return path


def write_snapshot(path: Path, snapshot: Snapshot) -> Path:
    """Write one checkpoint as the folder `path`, whole or not at all; one that is there is replaced.

    Args:
        path: of the folder; those above it are made.
        snapshot: what to write.

    Returns:
        The path.

    """
    folder = path.parent
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{path.name}.{os.getpid()}"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    # One copy each: safetensors refuses tensors that share memory.
    tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in snapshot.tensors.items()}
    save_file(tensors, temporary / _TENSORS)
    facts = {"format": FORMAT, **snapshot.facts, "sha256": _digest(temporary / _TENSORS)}
    (temporary / _FACTS).write_text(json.dumps(facts, indent=1, ensure_ascii=False), encoding="utf-8")
    for name in (_TENSORS, _FACTS):
        _sync(temporary / name)
    _sync(temporary)
    if path.exists():
        # Step aside first, since rename does not replace a folder that holds something.
        aside = folder / f".old-{path.name}.{os.getpid()}"
        os.replace(path, aside)
        os.replace(temporary, path)
        shutil.rmtree(aside, ignore_errors=True)
    else:
        os.replace(temporary, path)
    _sync(folder)
    return path


def checkpoint_path(directory: Path, step: int) -> Path:
    """Say where a run keeps the checkpoint of a step."""
    return directory / _FOLDER / f"step-{step:08d}"


def checkpoints_in(directory: Path) -> list[Path]:
    """List a run's checkpoints, oldest first."""
    return sorted(path for path in (directory / _FOLDER).glob("step-*") if path.is_dir())


def read_snapshot(path: Path) -> Snapshot:
    """Read one checkpoint; a `CheckpointError` says what is wrong with it."""
    try:
        facts = json.loads((path / _FACTS).read_text(encoding="utf-8"))
        written = int(facts["format"])
    except OSError as problem:
        raise CheckpointError(f"{path} is not a checkpoint: {problem.strerror or problem}") from None
    except (ValueError, KeyError, TypeError):
        raise CheckpointError(f"{path / _FACTS} is cut short or damaged") from None
    if written > FORMAT:
        version = facts.get("versions", {}).get("aninfonce", "a later one")
        raise CheckpointError(
            f"{path} was written by a newer version of aninfonce ({version}, format {written}; this one reads"
            f" up to {FORMAT}): upgrade to use it"
        )
    try:
        if _digest(path / _TENSORS) != facts["sha256"]:
            raise CheckpointError(f"{path / _TENSORS} is cut short or damaged: its checksum does not match")
        return Snapshot(load_file(path / _TENSORS), facts)
    except OSError as problem:
        raise CheckpointError(f"{path / _TENSORS} cannot be read: {problem.strerror or problem}") from None
    except (SafetensorError, KeyError) as problem:
        raise CheckpointError(f"{path} is damaged: {problem}") from None


def newest_snapshot(path: Path) -> tuple[Path, Snapshot] | None:
    """Find the newest checkpoint that can be read, with a warning for each newer one that cannot.

    Args:
        path: a run's directory, or one checkpoint.

    Returns:
        Its path and content; None if there is no checkpoint at all. If there are some but none can be read,
        a `CheckpointError` says what is wrong with the newest.

    """
    if (path / _FACTS).exists():
        return path, read_snapshot(path)
    first: CheckpointError | None = None
    for candidate in reversed(checkpoints_in(path)):
        try:
            found = candidate, read_snapshot(candidate)
        except CheckpointError as problem:
            first = first or problem
            continue
        if first is not None:
            warnings.warn(f"{first}; using {candidate.name} instead", stacklevel=2)
        return found
    if first is not None:
        raise first
    return None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
