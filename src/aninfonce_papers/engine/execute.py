"""Runs one task in the current process, and records the outcome."""

from __future__ import annotations

import json
import os
import platform
import time
import traceback
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import torch

import aninfonce
from aninfonce.training import TrainingInterrupted
from aninfonce_papers.engine.plan import Task
from aninfonce_papers.engine.row import Metrics, Row
from aninfonce_papers.engine.scratch import scratch


def execute(task: Task) -> Row | None:
    """Run one task in this process, on one thread; gives its row, or None if it was told to stop."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    start = time.perf_counter()
    before = 0.0
    metrics: Metrics = {}
    error = None
    noticed: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as noticed, scratch(task.scratch, task.key) as before:
            warnings.simplefilter("default")
            found = task.experiment.run(task.seed)
        json.dumps(found, allow_nan=False)  # a NaN or an array is this cell's error, not the sweep's
        metrics = found
    except (KeyboardInterrupt, TrainingInterrupted):
        return None
    except Exception as problem:
        where = traceback.extract_tb(problem.__traceback__)[-1]
        place = f"{os.path.basename(where.filename)}:{where.lineno}"
        error = f"{type(problem).__name__}: {problem} ({place})"
    finally:
        torch.set_num_threads(threads)
    seconds = before + time.perf_counter() - start
    return result_row(task, metrics, seconds, error, [str(warning.message) for warning in noticed])


def result_row(
    task: Task, metrics: Metrics, seconds: float, error: str | None, warned: Sequence[str] = ()
) -> Row:
    """Put together what is known about a run."""
    return Row(
        study=task.study.name,
        cell=task.experiment.name,
        seed=task.seed,
        preset=task.preset,
        configuration=task.experiment.configuration,
        metrics=json.loads(json.dumps(metrics)),  # as it will be read: tuples are lists
        published=task.experiment.known_values(task.preset),
        seconds=round(seconds, 3),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=_versions(),
        warnings=list(dict.fromkeys(warned)),
        error=error,
    )


def _versions() -> dict[str, str]:
    return {
        "aninfonce": aninfonce.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
    }
