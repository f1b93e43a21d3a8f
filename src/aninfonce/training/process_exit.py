"""Ends a process that trained together with others."""

from __future__ import annotations

import os
import sys

import torch.distributed as dist


def leave_process_group() -> None:
    """End this process, once all others have come as far; one that is alone goes on.

    Python must not take itself apart while threads of gloo are alive. One of them may still hold the last
    tensor that was sent, asks for the interpreter to let go of it, and aborts the process if that has begun
    to end: a run that has finished then looks like one that failed. The threads outlive
    `destroy_process_group` wherever `DistributedDataParallel` was used (torch 2.13 keeps references), and a
    process that goes first can break the connection of one that still talks. So all wait for each other, and
    then leave without Python's clean-up: whatever must be written has to be written by now.

    Example:
        >>> leave_process_group()  # one process, no group: nothing happens

    """
    if not (dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1):
        return
    dist.barrier()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
