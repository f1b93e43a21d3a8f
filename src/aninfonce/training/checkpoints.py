"""Checkpoints on disk: tensors in safetensors, the rest in JSON; whole or not there at all.

A run's directory holds its last two checkpoints, such as `checkpoints/step-00000500/`, each with
`tensors.safetensors` and `state.json`. A checkpoint is written under another name, synced to the disk, and
renamed. Both files have checksums. Nothing in them is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from aninfonce._files import put_back, remove_leftovers, whole_folder
from aninfonce._validation import describe, plain

# Raise when a reader of the last version would misread what is written. 1 had no checksum of its own JSON.
FORMAT = 2

_FOLDER = "checkpoints"
_TENSORS = "tensors.safetensors"
_FACTS = "state.json"
# The JSON ends with its own checksum, taken with zeros in this place.
_NO_SUM = "0" * 64
_SUM = re.compile(rb'"checksum": "([0-9a-f]{64})"\n}\Z')


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
    """Write the checkpoint of a step into a run's directory, and keep the newest `keep` in all."""
    path = checkpoint_path(directory, step)
    write_snapshot(path, snapshot)
    earlier = [other for other in checkpoints_in(directory) if other < path]
    for old in earlier[: max(0, len(earlier) + 1 - keep)]:
        shutil.rmtree(old, ignore_errors=True)
    return path


def write_snapshot(path: Path, snapshot: Snapshot) -> Path:
    """Write one checkpoint as the folder `path`, whole or not at all; one that is there is replaced.

    Folders above it are made. If there is no room an `OSError` says so, and what was there before stays.
    """
    # One copy each: safetensors refuses tensors that share memory.
    tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in snapshot.tensors.items()}
    with whole_folder(path) as temporary:
        try:
            save_file(tensors, temporary / _TENSORS)
        except SafetensorError as problem:
            raise _as_os_error(problem) from None
        facts = {**snapshot.facts, "format": FORMAT, "sha256": _digest(temporary / _TENSORS)}
        (temporary / _FACTS).write_bytes(_to_json(facts))
    return path


def checkpoint_path(directory: Path, step: int) -> Path:
    """Say where a run keeps the checkpoint of a step."""
    return directory / _FOLDER / f"step-{step:08d}"


def checkpoints_in(directory: Path) -> list[Path]:
    """List a run's checkpoints, oldest first."""
    return sorted(path for path in (directory / _FOLDER).glob("step-*") if path.is_dir())


def tidy_checkpoints(directory: Path) -> None:
    """Remove what writers of this run left unfinished; the caller must hold the run's lock."""
    remove_leftovers(directory, alone=True)
    remove_leftovers(directory / _FOLDER, alone=True)
    # Format 1 named them without an ending.
    for pattern in (".old-step-*", ".step-*"):
        for path in (directory / _FOLDER).glob(pattern):
            put_back(path, path.name[1:].rpartition(".")[0])


def read_snapshot(path: Path) -> Snapshot:
    """Read one checkpoint; a `CheckpointError` says what is wrong with it."""
    try:
        raw = (path / _FACTS).read_bytes()
    except FileNotFoundError:
        why = f"there is no {_FACTS} in it" if path.is_dir() else "there is no such folder"
        raise CheckpointError(f"{path} is not a checkpoint: {why}") from None
    except OSError as problem:
        raise CheckpointError(f"{path} is not a checkpoint: {problem.strerror or problem}") from None
    try:
        facts = json.loads(raw)
        written = int(facts["format"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CheckpointError(f"{path / _FACTS} is cut short or damaged") from None
    if written > FORMAT:
        version = facts.get("versions", {}).get("aninfonce", "a later one")
        raise CheckpointError(
            f"{path} was written by a newer version of aninfonce ({version}, format {written}; this one reads"
            f" up to {FORMAT}): upgrade to use it"
        )
    if not _is_whole(raw, written):
        raise CheckpointError(f"{path / _FACTS} is cut short or damaged: its checksum does not match")
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


def last_snapshot_before(directory: Path, step: int) -> Path | None:
    """Find the newest checkpoint of fewer steps that can be read."""
    for path in reversed(checkpoints_in(directory)):
        if path < checkpoint_path(directory, step):
            with suppress(CheckpointError):
                read_snapshot(path)
                return path
    return None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _to_json(facts: dict[str, Any]) -> bytes:
    """Write facts as JSON that ends with its own checksum."""
    facts = {name: value for name, value in facts.items() if name != "checksum"}
    text = json.dumps({**plain(facts), "checksum": _NO_SUM}, indent=1, ensure_ascii=False, default=_refuse)
    raw = text.encode()
    found = _SUM.search(raw)
    assert found is not None
    return raw[: found.start(1)] + hashlib.sha256(raw).hexdigest().encode() + raw[found.end(1) :]


def _is_whole(raw: bytes, written: int) -> bool:
    """Compare facts with their checksum; those of format 1 have none."""
    found = _SUM.search(raw)
    if found is None:
        return written == 1
    blank = raw[: found.start(1)] + _NO_SUM.encode() + raw[found.end(1) :]
    return hashlib.sha256(blank).hexdigest().encode() == found.group(1)


def _refuse(value: Any) -> Any:
    raise ValueError(
        f"only numbers, texts, lists and dictionaries of them can be saved, got {describe(value)}"
    )


def _as_os_error(problem: SafetensorError) -> Exception:
    """Read off what the system said, such as that the disk is full."""
    code = re.search(r"\(os error (\d+)\)", str(problem))
    return problem if code is None else OSError(int(code[1]), os.strerror(int(code[1])))
