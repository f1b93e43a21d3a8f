"""The two trainings of the demo, each in a process with one thread."""

from __future__ import annotations

import queue
from dataclasses import dataclass, field
from multiprocessing.queues import Queue
from typing import TYPE_CHECKING, Any

from aninfonce.cli.demo import worker_context
from aninfonce.training.config import TrainingConfig
from aninfonce.training.monitor import Row
from aninfonce.training.progress_bar import ProgressBars
from aninfonce.training.reporters import Reporter

if TYPE_CHECKING:
    from rich.table import Table

PROCESS = "fig2/25"
PARTS = ("content", "style")
# InfoNCE has the inner product at temperature 1, as in the paper.
LOSSES = {"InfoNCE": "infonce", "AnInfoNCE": "aninfonce"}
# Observations in the pictures.
_SHOWN = 1500
_QUICK: dict[str, Any] = {
    "steps": 600,
    "batch_size": 256,
    "growth": ((0.5, 512),),
    "close": {"pairs": 8192, "concentration_pairs": 16_384, "block": 512},
}


@dataclass(frozen=True)
class DemoRun:
    """One finished training.

    Attributes:
        name: of the loss.
        r2: by part, content and style, on fresh observations.
        concentration: Λ̂ ascending; for InfoNCE one number for all factors, one over the temperature.
        truth: Λ ascending.
        loss: on the held-out pairs.
        optimum: of the loss on the same pairs.
        seconds: duration of the training.
        folded: the label-free check; None where it does not apply.
        switch: step at which the embedding was put on the sphere; None if it was there all along.
        hidden: (n, 4), two factors of each part of some fresh observations.
        found: (n, 4), the same as read off the embedding by least squares, fitted on other observations.
        history: rows of the log.

    """

    name: str
    r2: dict[str, float]
    concentration: list[float]
    truth: list[float]
    loss: float
    optimum: float
    seconds: float
    folded: bool | None
    switch: int | None
    hidden: list[list[float]] = field(repr=False)
    found: list[list[float]] = field(repr=False)
    history: list[Row] = field(repr=False)


def demo_config(name: str, seed: int, *, quick: bool) -> TrainingConfig:
    """Give the settings of one of the two trainings."""
    from aninfonce.recipe import INFONCE_RATES, scaled_rates

    # At the rates of AnInfoNCE, a sixth of the style survives from the initial weights, at the same loss.
    rates = scaled_rates(INFONCE_RATES) if name == "InfoNCE" else {}
    return TrainingConfig.model_validate(
        {
            "loss": LOSSES[name],
            "recipe": {**rates, **(_QUICK if quick else {})},
            "seed": seed,
            "log_every": 25,
            "evaluate_every": 50,
            "evaluation_pairs": 2048 if quick else 4096,
        }
    )


def run_side_by_side(seed: int, *, quick: bool) -> list[DemoRun]:
    """Train both losses at the same time, each with a progress bar."""
    context = worker_context()
    news: Queue[tuple[str, str, Any]] = context.Queue()
    workers = {
        name: context.Process(target=_work, args=(name, seed, quick, news), daemon=True) for name in LOSSES
    }
    for worker in workers.values():
        worker.start()
    done: dict[str, DemoRun] = {}
    with ProgressBars() as bars:
        for name in LOSSES:
            bars.start(f"{name:9s}", demo_config(name, seed, quick=quick).recipe.steps)
        while len(done) < len(LOSSES):
            try:
                name, kind, content = news.get(timeout=1.0)
            except queue.Empty:
                _check_alive(workers, done)
                continue
            if kind == "row":
                bars.row(f"{name:9s}", content)
            elif kind == "done":
                done[name] = content
            else:
                raise ValueError(f"{name}: {content}")
    for worker in workers.values():
        worker.join()
    return [done[name] for name in LOSSES]


def _check_alive(workers: dict[str, Any], done: dict[str, DemoRun]) -> None:
    for name, worker in workers.items():
        if name not in done and not worker.is_alive() and worker.exitcode != 0:
            raise ValueError(f"{name}: the training process ended with exit code {worker.exitcode}")


class _Messages(Reporter):
    """Sends rows to the parent process."""

    def __init__(self, name: str, news: Queue[tuple[str, str, Any]]) -> None:
        self._name, self._news = name, news

    def row(self, row: Row) -> None:
        self._news.put((self._name, "row", row))


def _work(name: str, seed: int, quick: bool, news: Queue[tuple[str, str, Any]]) -> None:
    """Train in a process of its own and send the result."""
    try:
        import torch

        torch.set_num_threads(1)
        news.put((name, "done", train_one(name, seed, quick=quick, reporter=_Messages(name, news))))
    except Exception as problem:
        news.put((name, "error", f"{type(problem).__name__}: {problem}"))
    except KeyboardInterrupt:
        pass


def train_one(name: str, seed: int, *, quick: bool, reporter: Reporter) -> DemoRun:
    """Train one loss and score it on fresh pairs."""
    import torch
    from sklearn.linear_model import LinearRegression

    from aninfonce._seeds import stream
    from aninfonce.losses import InfoNCE
    from aninfonce.metrics import linear_r2
    from aninfonce.processes import process
    from aninfonce.training.loop import fit

    # Fewer candidates for a well-conditioned mixing take less time to draw.
    pairs = process(PROCESS, seed=seed, **({"candidates": 3000} if quick else {}))
    config = demo_config(name, seed, quick=quick)
    fitted = fit(pairs, config, reporters=[reporter])
    fresh = pairs.sample(16_384, stream(seed, "test pairs"))
    assert fresh.z is not None
    assert pairs.concentration is not None
    z, parts = fitted.embed(fresh.x), pairs.partitions()
    score = linear_r2(fresh.z, z, partitions=parts)
    shown = fresh.z[:, [factor for part in PARTS for factor in parts[part][:2]]]
    readout = LinearRegression().fit(z[_SHOWN:], shown[_SHOWN:])
    last = fitted.history[-1]
    if fitted.concentration is not None:
        concentration = fitted.concentration.sort().values.tolist()
    else:
        assert isinstance(fitted.loss, InfoNCE)
        concentration = [1 / float(torch.as_tensor(fitted.loss.temperature).detach())]
    unfold = config.recipe.unfold
    return DemoRun(
        name=name,
        r2={part: score.per_partition[part] for part in PARTS},
        concentration=concentration,
        truth=pairs.concentration.sort().values.tolist(),
        loss=last["held_out_loss"],
        optimum=last["optimal_loss"],
        seconds=fitted.seconds,
        folded=fitted.folded,
        switch=int(unfold.share * config.recipe.steps) if config.unfolds and unfold is not None else None,
        hidden=_rounded(shown[:_SHOWN]),
        found=_rounded(readout.predict(z[:_SHOWN])),
        history=fitted.history,
    )


def _rounded(rows: Any) -> list[list[float]]:
    """Keep as many digits as a picture shows."""
    return [[round(float(value), 4) for value in row] for row in rows]


def comparison_table(runs: list[DemoRun]) -> Table:
    """Put both results beside each other."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    title = "What the two losses recover of the same ten factors"
    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    headings, *rows = comparison_rows(runs)
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "" or "Λ̂" in heading else "right")
    for row in rows:
        table.add_row(*row)
    return table


def comparison_rows(runs: list[DemoRun]) -> list[tuple[str, ...]]:
    """Write the numbers of both results, under a row of headings; that of Λ̂ has the truth."""
    truth = " and ".join(f"{value:g}" for value in sorted(set(runs[0].truth)))
    rows: list[tuple[str, ...]] = [
        ("", "R² content", "R² style", f"Λ̂ ({truth})", "loss", "optimum", "seconds")
    ]
    for run in runs:
        recovered = (f"{run.r2[part]:.4f}" for part in PARTS)
        losses = (f"{run.loss:.3f}", f"{run.optimum:.3f}")
        rows.append((run.name, *recovered, _describe_concentration(run), *losses, f"{run.seconds:.0f}"))
    return rows


def _describe_concentration(run: DemoRun) -> str:
    """Say Λ̂ in a few words: its range for each value of Λ."""
    if len(run.concentration) == 1:
        return f"{run.concentration[0]:g}, fixed"
    ranges = []
    for value in sorted(set(run.truth)):
        own = [c for c, t in zip(run.concentration, run.truth, strict=True) if t == value]
        ranges.append(f"{min(own):.1f}–{max(own):.1f}")
    return ", ".join(ranges)
