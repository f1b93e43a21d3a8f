"""How a process ends that trained together with others."""

from __future__ import annotations

import atexit
import os
import sys

import torch.distributed as dist


def leave_process_group(*, stay: bool = False) -> None:
    """End this process once all others have come this far; a process that is alone goes on.

    Python must not shut down while threads of gloo are alive. One of them may still hold the last tensor that
    was sent. It needs the interpreter to release it, and aborts the process if the interpreter has begun to
    shut down: a run that has finished then looks like one that failed. The threads outlive
    `destroy_process_group` wherever `DistributedDataParallel` was used (torch 2.13 keeps references), and a
    process that ends first can break the connection of one that is still sending. So all wait for each other,
    and then leave without Python's clean-up: whatever must be written has to be written by now.

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
    """Skip Python's clean-up when this process ends, as `leave_process_group` does, but not before.

    For a process whose result is still to be handed on. Call it last: a process that fails after it would end
    as if it had not failed.

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
