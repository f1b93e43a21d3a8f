"""Worker processes that start quickly: what they need is imported once, while the command still starts up."""

from __future__ import annotations

import multiprocessing
import os
from typing import Any

# Imported by the server that all workers are forked from. It runs nothing, so that no thread is forked.
_PRELOAD = ["aninfonce.training.loop", "aninfonce.processes", "lightning_fabric"]


def worker_context() -> Any:
    """Choose how workers are started: by a fork server where the system has one, else from scratch.

    The first call starts the server without waiting for it.
    """
    # One thread per worker, also in numpy's libraries: idle threads would spin on the other worker's core.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver

    forkserver.set_forkserver_preload(_PRELOAD)
    forkserver.ensure_running()
    return multiprocessing.get_context("forkserver")
