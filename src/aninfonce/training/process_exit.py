"""Ends a process that trained together with others."""

from __future__ import annotations

import atexit
import os
import sys

import torch.distributed as dist


def leave_process_group(*, stay: bool = False) -> None:
    """End this process, once all others have come as far; one that is alone goes on.

    Python must not take itself apart while threads of gloo are alive. One of them may still hold the last
    tensor that was sent, asks for the interpreter to let go of it, and aborts the process if that has begun
    to end: a run that has finished then looks like one that failed. The threads outlive
    `destroy_process_group` wherever `DistributedDataParallel` was used (torch 2.13 keeps references), and a
    process that goes first can break the connection of one that still talks. So all wait for each other, and
    then leave without Python's clean-up: whatever must be written has to be written by now.

    Example:
        >>> leave_process_group()  # one process, no group: nothing happens

    Args:
        stay: let the others leave, and go on alone; call `leave_at_exit` once there is a result.

    """
    if not _has_company():
        return
    dist.barrier()
    if not stay:
        _leave()


def leave_at_exit() -> None:
    """End this process without Python's clean-up, too, but when it ends: its result is still to be handed on.

    For the last thing that a process does. One that fails after this call would end as if it had not.

    Example:
        >>> leave_at_exit()  # one process, no group: nothing happens

    """
    if _has_company():
        atexit.register(_leave)


def _has_company() -> bool:
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def _leave() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
