"""`aninfonce evaluate`: what a trained encoder recovered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aninfonce.cli.errors import friendly

if TYPE_CHECKING:
    from aninfonce.processes import DataGeneratingProcess, PairBatch
    from aninfonce.training import Fitted


@friendly
def evaluate(
    checkpoint: Annotated[
        Path, typer.Argument(help="A run's folder, or one of its checkpoints.", show_default=False)
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            help="Arrays `x`, `x_pos` (and `z`) to score on: .npz, .csv or .parquet.",
            show_default="held-out pairs of the run",
        ),
    ] = None,
    pairs: Annotated[int, typer.Option(min=1024, help="Pairs to score on.")] = 16_384,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score a trained encoder on pairs that it was not trained on.

    These are new pairs of the run's process, the rows of its arrays that were
    held out, or arrays of your own.

    With known latents: R², mean correlation coefficient and the error of Λ̂.
    Always: loss, effective rank, alignment, uniformity and the folding check.

    For example:

        aninfonce evaluate runs/config

        aninfonce evaluate runs/config --data test.npz --json
    """
    from aninfonce.training import load_fitted

    fitted = load_fitted(checkpoint)
    batch, process, origin = _pairs(fitted, data, pairs)
    scores = {"pairs": len(batch), "data": origin, **_scores(fitted, batch, process)}
    if as_json:
        typer.echo(json.dumps(scores, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("score", "value", title=f"{checkpoint}, step {fitted.step}")
    for name, value in scores.items():
        table.add_row(name, _shown(value))
    Console().print(table)


def _pairs(fitted: Fitted, data: Path | None, n: int) -> tuple[PairBatch, DataGeneratingProcess | None, str]:
    """Find pairs to score on, the process they are from, and what to call them."""
    import torch

    from aninfonce._seeds import stream
    from aninfonce.processes import DataGeneratingProcess
    from aninfonce.sources.as_source import as_source
    from aninfonce.training.config import DataSettings
    from aninfonce.training.monitor import open_monitor
    from aninfonce.training.open_data import file_sha256, open_data

    config, known = fitted.config, fitted.config.data
    if data is None and known is None:
        raise ValueError("the run was trained on data given in Python: pass --data")
    own = data is None or (known is not None and known.sha256 == file_sha256(data))
    if not own:
        assert data is not None
        opened = open_data(DataSettings(arrays=data))
        assert not isinstance(opened, DataGeneratingProcess)
        return opened[torch.randperm(len(opened), generator=stream(0, "evaluate"))[:n]], None, str(data)
    assert known is not None
    settings = known if data is None else known.model_copy(update={"arrays": data})
    if settings.arrays is not None and not settings.arrays.is_absolute() and data is None:
        raise ValueError(f"the run does not know in which folder {settings.arrays} is: pass --data")
    opened = open_data(settings)
    if isinstance(opened, DataGeneratingProcess):
        return opened.sample(n, stream(config.seed, "evaluate")), opened, "new pairs of the run's process"
    monitor = open_monitor(as_source(opened, config.seed), config)
    origin = "held out from training" if monitor.held_out else "trained on: the run held nothing out"
    return monitor.pairs[slice(n)], None, origin


def _scores(fitted: Fitted, batch: PairBatch, process: DataGeneratingProcess | None) -> dict[str, Any]:
    from aninfonce.losses.blockwise import mean_over_blocks
    from aninfonce.metrics import (
        alignment,
        concentration_error,
        linear_r2,
        mean_correlation_coefficient,
        rankme,
        uniformity,
    )

    z, z_pos = fitted.embed(batch.x), fitted.embed(batch.x_pos)
    scores: dict[str, Any] = {}
    if batch.z is not None:
        partitions = None if process is None else process.partitions()
        r2 = linear_r2(batch.z, z, partitions=partitions)
        scores["R²"] = r2.mean
        if len(r2.per_partition) in (2, 3):
            scores |= {f"R² {name}": value for name, value in r2.per_partition.items()}
        scores["mean correlation coefficient"] = mean_correlation_coefficient(batch.z, z).mean
    if fitted.concentration is not None:
        scores["Λ̂"] = fitted.concentration.tolist()
        truth = None if process is None else process.concentration
        if truth is not None and len(truth) == len(fitted.concentration):
            scores["largest relative error of sorted Λ̂"] = concentration_error(
                fitted.concentration, truth
            ).max
    block = min(1024, len(z))
    scores[f"loss, {block - 1} negatives"] = mean_over_blocks(fitted.loss, z, z_pos, block=block)
    scores["effective rank"] = rankme(z)
    scores["alignment"] = alignment(z, z_pos)
    scores["uniformity"] = uniformity(z[:4096])
    if fitted.folding is not None:
        scores["folded"] = fitted.folding.folded
    return scores


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(f"{entry:.3g}" for entry in value)
    return f"{value:.4f}" if isinstance(value, float) else str(value)
