"""Small studies whose experiments sleep, fail or leave a trace, for tests of the machinery."""

import os
import time
import warnings
from pathlib import Path

from aninfonce.training import TrainingInterrupted
from aninfonce_papers.engine import Experiment, Pairs, Published, Row, Score, Study


class Toy(Score):
    kind: str
    seconds: float = 0.0
    trace: str | None = None

    def run(self, experiment, seed):
        time.sleep(self.seconds)
        if self.trace is not None:
            with (Path(self.trace) / f"{experiment.name} {seed}").open("a") as file:
                file.write("ran\n")
        if self.kind == "dies":
            os._exit(1)
        if self.kind == "fails":
            raise RuntimeError("this cell breaks")
        if self.kind == "interrupted":
            raise TrainingInterrupted(2, 7, None)
        if self.kind == "warns":
            warnings.warn("something is odd", stacklevel=1)
        return {"r2": float("nan") if self.kind == "nan" else 0.5 + 0.1 * seed}


def toy(kind, **more):
    return Experiment(name=kind, pairs=Pairs(), score=Toy(kind=kind), **more)


def experiments(preset):
    names = ("good", "fails", "nan", "warns", "also good")
    return [toy(name, published={"r2": Published(0.9)}, seconds=2.0) for name in names]


def of_kinds(*kinds):
    return study(lambda preset: [toy(kind) for kind in kinds])


def study(experiments=experiments):
    return Study("toy", "A toy", "no paper", "no table", experiments, lambda rows: {})


def row(seed=0, error=None, **more):
    """A row of no study."""
    given = {
        "study": "s",
        "cell": "a",
        "seed": seed,
        "preset": "smoke",
        "configuration": {"Λ": [5, 25]},
        "metrics": {"r2": 0.5},
        "published": {},
        "seconds": 1.0,
        "versions": {},
        "error": error,
    }
    return Row(**{**given, **more})
