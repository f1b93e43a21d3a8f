"""Worker processes that start quickly: what they need is imported once, while the command still starts up."""

from __future__ import annotations

import multiprocessing
from typing import Any

# Imported by the server that all workers are forked from. It runs nothing, so that no thread is forked.
_PRELOAD = ["aninfonce.training.loop", "aninfonce.processes", "lightning_fabric"]


def worker_context() -> Any:
    """Give the way to start workers: from a fork server where there is one, else from scratch.

    The first call starts the server without waiting for it.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver

    forkserver.set_forkserver_preload(_PRELOAD)
    forkserver.ensure_running()
    return multiprocessing.get_context("forkserver")
