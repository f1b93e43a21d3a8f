"""The walk of one batch through the house: which files of the package it passes, in order.

    python -m benchmarks.walk                       # this source tree
    PYTHONPATH=/some/other/src python -m benchmarks.walk

Prints the files of each stage of training on `process("fig2/25")`: those in which a function is called.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import torch

import aninfonce
from aninfonce.losses import AnInfoNCE
from aninfonce.processes import process
from aninfonce.training import TrainingConfig, fit

_PACKAGE = Path(aninfonce.__file__).parent
_FEW = {"pairs": 1000, "concentration_pairs": 1000, "block": 100}
_SHORT = {"steps": 20, "warmup": 0, "batch_size": 64, "growth": (), "unfold": {"pairs": 1000}, "close": _FEW}


def files_of(action: Callable[[], Any]) -> list[str]:
    """List the files of the package in which an action calls a function, in the order of the first calls."""
    seen: dict[str, None] = {}

    def look(frame: FrameType, event: str, _: Any) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(_PACKAGE):
            seen[str(file.relative_to(_PACKAGE))] = None

    threading.setprofile(look)  # pairs are drawn by a thread of their own
    sys.setprofile(look)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return [*seen]


def main() -> None:
    world = process("fig2/25")
    loss, z, z_pos = AnInfoNCE(10, normalize=False), *torch.randn(2, 512, 10, requires_grad=True)
    stages = {
        "to draw 512 pairs": lambda: world.sample(512),
        "from embeddings to the gradient of the loss": lambda: loss(z, z_pos).backward(),
        "a whole run, closing fits included": lambda: fit(world, TrainingConfig(recipe=_SHORT)),
    }
    for what, action in stages.items():
        files = files_of(action)
        print(f"{what}: {len(files)} files\n  " + "\n  ".join(files))


if __name__ == "__main__":
    main()
