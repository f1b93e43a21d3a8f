"""Small studies whose cells sleep, fail or leave a trace, for tests of the machinery."""

import os
import time
import warnings
from pathlib import Path

from aninfonce.training import TrainingInterrupted
from aninfonce_papers.engine import Cell, Published, Study


def cells(preset):
    names = ("good", "fails", "nan", "warns", "also good")
    return [
        Cell(name, {"kind": name}, {"seconds": 0.0, "trace": None}, {"r2": Published(0.9)}, estimate=2.0)
        for name in names
    ]


def run(cell, seed):
    settings = cell.configuration
    time.sleep(settings["seconds"])
    if settings["trace"] is not None:
        with (Path(settings["trace"]) / f"{cell.name} {seed}").open("a") as file:
            file.write("ran\n")
    if settings["kind"] == "dies":
        os._exit(1)
    if settings["kind"] == "fails":
        raise RuntimeError("this cell breaks")
    if settings["kind"] == "interrupted":
        raise TrainingInterrupted(2, 7, None)
    if settings["kind"] == "warns":
        warnings.warn("something is odd", stacklevel=1)
    return {"r2": float("nan") if settings["kind"] == "nan" else 0.5 + 0.1 * seed}


def of_kinds(*kinds):
    def some(preset):
        return [Cell(kind, {"kind": kind}, {"seconds": 0.0, "trace": None}) for kind in kinds]

    return study(some)


def study(cells=cells):
    return Study("toy", "A toy", "no paper", "no table", cells, run, lambda rows: {})
