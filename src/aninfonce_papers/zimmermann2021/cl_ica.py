"""What Tables 1 and 2 of cl-ica share: rows that are trained, and their two baselines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from scipy.optimize import minimize_scalar

from aninfonce.losses import LpInfoNCE
from aninfonce.metrics import identity_baseline, linear_r2, mean_correlation_coefficient
from aninfonce.processes import DataGeneratingProcess, process
from aninfonce.training import Fitted
from aninfonce_papers.engine import trained
from aninfonce_papers.engine.base import Cell, Configuration, Metrics, Preset, Published
from aninfonce_papers.models.supervised import embed, fit_supervised

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

Space = Literal["sphere", "box", "unbounded"]

# The head, and the loss in cl-ica's counting: all anchors are negatives, the own one included.
# On the sphere a trained radius stands for the concentration of the model's conditional.
HEADS = {"sphere": "learnable-sphere", "box": "box", "unbounded": "unbounded"}
MODELS: dict[str, dict[str, Any]] = {
    "vMF": {"name": "infonce", "options": {"candidates": "anchors+self"}},
    "Laplace": {"name": "lp", "options": {"p": 1, "candidates": "anchors+self"}},
    "Normal": {"name": "lp", "options": {"p": 2, "candidates": "anchors+self"}},
    "GenNorm β=3": {"name": "lp", "options": {"p": 3, "candidates": "anchors+self"}},
    # Ours: −½ΔᵀΛ̂Δ with a trained potential β of the candidates, for anchors that are not uniform.
    "Normal, β": {"name": "aninfonce", "options": {"potential": True}},
}
# cl-ica trains longer than AnInfoNCE, on larger batches.
_PAPER = {"steps": 300_003, "batch_size": 6_144}
_PAPER_SUPERVISED = {"steps": 100_001, "batch_size": 6_144}
# Of one batch in which losses are compared.
_LOSS_PAIRS = 2_048
# Laplace and GenNorm have no fast product form.
_SLOWNESS = {"vMF": 0.8, "Normal": 0.8, "Laplace": 2.0, "GenNorm β=3": 2.3, "Normal, β": 1.2}
# Pairs lie close together in a box, and few anchors of a batch have a gradient: the first layer is slow to
# learn unless its inputs are decorrelated and its rate is high.
_CLOSE_PAIRS = {"whiten": True, "adam_lr": 0.02}


class TableRow(NamedTuple):
    """A row of a table: what pairs are, what the model assumes, and what was published."""

    data: str
    space: Space
    model: str
    value: float
    spread: float
    fails: bool = False
    """Whether it is meant to fail."""
    laptop: Configuration | None = None
    """Settings of its own on that preset."""
    slower: float = 1.0
    """A step of those, in steps of the other rows."""


class Baseline(NamedTuple):
    """Identity or supervised scores that several rows share."""

    kind: Literal["identity", "supervised"]
    rows: str
    row: int
    value: float
    spread: float
    head: str | None = None
    """What a supervised encoder ends in, if anything."""


def table_cells(
    table: str,
    metric: str,
    rows: Mapping[int, Sequence[TableRow]],
    baselines: Sequence[Baseline],
    preset: Preset,
) -> list[Cell]:
    """Give the cells of a table.

    Args:
        table: its name.
        metric: what was published.
        rows: by number; the pairs of a number can have several models.
        baselines: identity and supervised scores.
        preset: size.

    """
    sizes = trained.SIZES[preset]
    cells = [
        Cell(
            f"row {number}: {row.data} → {row.space}, {row.model}",
            {"process": f"{table}/row{number}", "space": row.space, "model": row.model},
            settings := _row_settings(row, preset),
            {metric: _value(row.value, row.spread, "equal" if row.fails else "higher")},
            trained.estimate(
                preset, settings, _SLOWNESS[row.model] * (row.slower if preset == "laptop" else 1.0)
            ),
        )
        for number, models in rows.items()
        for row in models
    ]
    for base in baselines:
        settings = {**sizes, **_PAPER_SUPERVISED} if preset == "paper" else sizes
        if base.kind == "identity":
            settings = {name: sizes[name] for name in ("test_pairs", "candidates")}
        cells.append(
            Cell(
                f"{base.kind}, {base.rows}",
                {
                    "process": f"{table}/row{base.row}",
                    "model": base.kind,
                    # Left out where there is none: the key of a run must stay what it was.
                    **({"head": base.head} if base.head else {}),
                },
                settings,
                {metric: _value(base.value, base.spread, "equal" if base.kind == "identity" else "higher")},
                1.0 if base.kind == "identity" else trained.estimate(preset, settings, 0.5),
            )
        )
    return cells


def run(cell: Cell, seed: int) -> Metrics:
    """Train one row (or score its baseline): R² and mean correlation coefficient in per cent."""
    settings = cell.configuration
    if settings["model"] in ("identity", "supervised"):
        return _baseline(settings, seed)
    source, fitted = trained.train(
        settings, seed, space=HEADS[settings["space"]], loss=MODELS[settings["model"]]
    )
    metrics = trained.scores(source, fitted, settings, seed)
    if settings["space"] == "unbounded" and settings["model"] in ("Laplace", "Normal", "GenNorm β=3"):
        metrics |= losses(source, fitted, settings, seed)
    return {**metrics, "curves": trained.curves(fitted, "r2")}


def table_plot(rows: Sequence[Row], metric: str, theirs_on: str = "") -> dict[str, Figure]:
    """Draw ours of each seed beside the published value, which may be `theirs_on` other data."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["cell"] for row in rows))
    figure = Figure(figsize=(7.5, 0.8 + 0.28 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    theirs: Mapping[str, Any] = {row["cell"]: row["published"][metric] for row in rows}
    axes.errorbar(
        [theirs[name]["value"] for name in names],
        range(len(names)),
        xerr=[theirs[name]["spread"] for name in names],
        fmt="x",
        color="C1",
        label=f"published{theirs_on}",
    )
    ours = [(row["metrics"][metric], names.index(row["cell"])) for row in rows]
    axes.plot(*zip(*ours, strict=True), "o", color="C0", alpha=0.7, label="ours, each seed")
    axes.set(yticks=range(len(names)), yticklabels=names, xlabel=metric, xlim=(None, 100.5))
    axes.invert_yaxis()
    # Outside: a mark may be anywhere in a table.
    figure.legend(loc="outside upper right", ncols=2)
    return {"table": figure}


def losses(
    source: DataGeneratingProcess, fitted: Fitted, settings: Configuration, seed: int
) -> dict[str, float]:
    """Compare the encoder's loss with that of the true latents at their best scale, on the same pairs.

    An encoder that is below them has not failed to train: the loss itself prefers something else.
    """
    pairs = trained.fresh_pairs(source, {"test_pairs": _LOSS_PAIRS}, seed)
    assert pairs.z is not None
    assert pairs.z_pos is not None
    z, z_pos, loss = pairs.z, pairs.z_pos, LpInfoNCE(**MODELS[settings["model"]]["options"])

    def at(log_scale: float) -> float:
        scale = math.exp(log_scale)
        return float(loss(scale * z, scale * z_pos))

    best = minimize_scalar(at, bounds=(-3.0, 4.0), method="bounded", options={"xatol": 0.01})
    ours = loss(fitted.embed(pairs.x), fitted.embed(pairs.x_pos))
    return {"loss": float(ours), "loss of the latents": float(best.fun)}


def _row_settings(row: TableRow, preset: Preset) -> Configuration:
    sizes = trained.SIZES[preset]
    if preset == "paper":
        return {**sizes, **_PAPER}
    sizes = sizes if row.space == "sphere" else {**sizes, **_CLOSE_PAIRS}
    return {**sizes, **row.laptop} if preset == "laptop" and row.laptop else sizes


def _baseline(settings: Configuration, seed: int) -> Metrics:
    source = process(settings["process"], seed, candidates=settings["candidates"])
    test = trained.fresh_pairs(source, settings, seed)
    assert test.z is not None
    if settings["model"] == "identity":
        found = identity_baseline(test.z, test.x)
        return {"R² [%]": 100.0 * found.r2.mean, "MCC [%]": 100.0 * found.mcc.mean}
    config = trained.training_config(settings, seed, space="unbounded", loss={"name": "infonce"})
    head = settings.get("head", "none")
    model = fit_supervised(source, config.recipe, seed, encoder=config.encoder.name, head=head)
    embedding = embed(model, test.x)
    return {
        "R² [%]": 100.0 * linear_r2(test.z, embedding).mean,
        "MCC [%]": 100.0 * mean_correlation_coefficient(test.z, embedding).mean,
    }


def _value(value: float, spread: float, goal: Literal["higher", "equal"]) -> Published:
    return Published(value, spread, precision=0.005, goal=goal)
