"""What Tables 1 and 2 of cl-ica share: rows that are trained, and their two baselines."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch
from scipy.optimize import minimize_scalar

from aninfonce.extending import embed_in_chunks
from aninfonce.losses import LpInfoNCE
from aninfonce.metrics import identity_baseline
from aninfonce.processes import process_settings
from aninfonce_papers.engine import Experiment, Loss, Metrics, Preset, Published, Row
from aninfonce_papers.engine.drawing import new_figure
from aninfonce_papers.engine.on_process import (
    SIZES,
    Outcome,
    ProcessPairs,
    ProcessScore,
    Sizes,
    curves,
    on_process,
    process_of,
    recovery,
)
from aninfonce_papers.models.supervised import fit_supervised

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Space = Literal["sphere", "box", "unbounded"]
Head = Literal["learnable-sphere", "box", "unbounded"]

# The head, and the loss in cl-ica's counting: all anchors are negatives, even the anchor itself.
# On the sphere a trained radius stands for the concentration of the model's conditional.
HEADS: dict[Space, Head] = {"sphere": "learnable-sphere", "box": "box", "unbounded": "unbounded"}
LOSSES: dict[str, Loss] = {
    "vMF": Loss(name="infonce", options={"candidates": "anchors+self"}),
    "Laplace": Loss(name="lp", options={"p": 1, "candidates": "anchors+self"}),
    "Normal": Loss(name="lp", options={"p": 2, "candidates": "anchors+self"}),
    "GenNorm β=3": Loss(name="lp", options={"p": 3, "candidates": "anchors+self"}),
    # Ours: −½ΔᵀΛ̂Δ with a trained potential β of the candidates, for anchors that are not uniform.
    "Normal, β": Loss(options={"potential": True, "positive_map": "exp"}),
}
# Of the first and the last layer, where inputs are decorrelated.
_HIGH_RATE = 0.02
# Of one batch in which losses are compared.
_LOSS_PAIRS = 2_048
# Laplace and GenNorm have no fast product form.
_SLOWNESS = {"vMF": 0.8, "Normal": 0.8, "Laplace": 2.0, "GenNorm β=3": 2.3, "Normal, β": 1.2}


class TableRow(NamedTuple):
    """A row of a table: what pairs are, what the model assumes, and what was published."""

    data: str
    space: Space
    model: str
    value: float
    spread: float
    fails: bool = False
    """Whether it is meant to fail."""
    laptop: Callable[[Sizes], Sizes] | None = None
    """Changes the sizes on that preset."""
    slower: float = 1.0
    """How many times longer a step of those sizes takes."""

    def sizes(self, preset: Preset) -> Sizes:
        """Give the sizes of the row."""
        sizes = SIZES[preset]
        if preset == "paper":
            # cl-ica trains longer than AnInfoNCE, on larger batches.
            return replace(sizes, steps=300_003, batch_size=6_144)
        if self.space != "sphere":
            # Pairs lie close together in a box, and few anchors of a batch have a gradient: the first layer
            # is slow to learn unless its inputs are decorrelated and its rate is high.
            sizes = replace(sizes, whiten=True, adam_lr=_HIGH_RATE)
        return self.laptop(sizes) if self.laptop is not None and preset == "laptop" else sizes


class Baseline(NamedTuple):
    """Identity or supervised scores that several rows share."""

    kind: Literal["identity", "supervised"]
    rows: str
    row: int
    value: float
    spread: float
    head: str = "none"
    """What a supervised encoder ends in."""


class Recovery(ProcessScore):
    """R² and mean correlation coefficient in per cent.

    Attributes:
        losses: also compare the encoder's loss with that of the true latents.

    """

    losses: bool = False

    def measure(self, outcome: Outcome) -> Metrics:
        """Score one training."""
        found = recovery(outcome.z, outcome.embedding)
        if self.losses:
            found |= self._losses(outcome)
        return {**found, "curves": curves(outcome.fitted, "r2")}

    def _losses(self, outcome: Outcome) -> dict[str, float]:
        """Compare the encoder's loss with that of the true latents at their best scale, on the same pairs.

        An encoder that is below them has not failed to train: the loss itself prefers something else.
        """
        pairs = self.model_copy(update={"test_pairs": _LOSS_PAIRS}).fresh(outcome.process, outcome.seed)
        assert pairs.z is not None
        assert pairs.z_pos is not None
        z, z_pos, loss = pairs.z, pairs.z_pos, outcome.fitted.loss
        assert isinstance(loss, LpInfoNCE)

        @torch.no_grad()
        def at(log_scale: float) -> float:
            scale = math.exp(log_scale)
            return float(loss(scale * z, scale * z_pos))

        best = minimize_scalar(at, bounds=(-3.0, 4.0), method="bounded", options={"xatol": 0.01})
        ours = loss(outcome.fitted.embed(pairs.x), outcome.fitted.embed(pairs.x_pos))
        return {"loss": float(ours), "loss of the latents": float(best.fun)}


class IdentityBaseline(ProcessScore):
    """The scores of the observations themselves."""

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Score them."""
        test = self.fresh(process_of(experiment, seed), seed)
        assert test.z is not None
        found = identity_baseline(test.z, test.x)
        return {"R² [%]": 100.0 * found.r2.mean, "MCC [%]": 100.0 * found.mcc.mean}


class SupervisedBaseline(ProcessScore):
    """The same encoder, trained on the true latents.

    Attributes:
        head: what it ends in.

    """

    head: str = "none"

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Train and score it."""
        process = process_of(experiment, seed)
        config = experiment.training_config(seed)
        model = fit_supervised(process, config.recipe, seed, encoder=config.encoder.name, head=self.head)
        test = self.fresh(process, seed)
        assert test.z is not None
        return recovery(test.z, embed_in_chunks(model, test.x))


def table_experiments(
    table: str,
    metric: str,
    rows: Mapping[int, Sequence[TableRow]],
    baselines: Sequence[Baseline],
    preset: Preset,
) -> list[Experiment]:
    """Give an experiment for each row and each baseline.

    Args:
        table: start of the preset processes' names.
        metric: that is published.
        rows: by number; the pairs of a number can have several models.
        baselines: identity and supervised scores.
        preset: size.

    """
    trained = [_experiment(table, metric, number, row, preset) for number in rows for row in rows[number]]
    return [*trained, *(_baseline(table, metric, base, preset) for base in baselines)]


def _experiment(table: str, metric: str, number: int, row: TableRow, preset: Preset) -> Experiment:
    sizes, loss = row.sizes(preset), LOSSES[row.model]
    return on_process(
        f"row {number}: {row.data} → {row.space}, {row.model}",
        f"{table}/row{number}",
        sizes,
        Recovery(test_pairs=sizes.test_pairs, losses=row.space == "unbounded" and loss.name == "lp"),
        {metric: Published(row.value, row.spread, precision=0.005, goal="equal" if row.fails else "higher")},
        loss=loss,
        space=HEADS[row.space],
        slower=_SLOWNESS[row.model] * (row.slower if preset == "laptop" else 1.0),
    )


def _baseline(table: str, metric: str, base: Baseline, preset: Preset) -> Experiment:
    sizes, name, process = SIZES[preset], f"{base.kind}, {base.rows}", f"{table}/row{base.row}"
    goal: Literal["equal", "higher"] = "equal" if base.kind == "identity" else "higher"
    known = {metric: Published(base.value, base.spread, precision=0.005, goal=goal)}
    if base.kind == "identity":
        return Experiment(
            name=name,
            pairs=ProcessPairs(process=process, candidates=sizes.candidates),
            score=IdentityBaseline(test_pairs=sizes.test_pairs),
            published=known,
        )
    if preset == "paper":
        sizes = replace(sizes, steps=100_001, batch_size=6_144)
    elif process_settings(process).space == "box":
        # As for the rows: without it the baseline ends tenths of a point below them.
        sizes = replace(sizes, whiten=True, adam_lr=_HIGH_RATE)
    score = SupervisedBaseline(test_pairs=sizes.test_pairs, head=base.head)
    return on_process(name, process, sizes, score, known, loss=LOSSES["vMF"], space="unbounded", slower=0.5)


def table_plot(rows: Sequence[Row], metric: str, theirs_on: str = "") -> dict[str, Figure]:
    """Draw ours of each seed beside the published value, which may be `theirs_on` other data."""
    theirs = {row.cell: row.published[metric] for row in rows}
    names = list(theirs)
    figure = new_figure(7.5, 0.8 + 0.28 * len(names))
    axes = figure.add_subplot()
    axes.errorbar(
        [known.value for known in theirs.values()],
        range(len(names)),
        xerr=[known.spread for known in theirs.values()],
        fmt="x",
        color="C1",
        label=f"published{theirs_on}",
    )
    ours = [(row.number(metric), names.index(row.cell)) for row in rows]
    axes.plot(*zip(*ours, strict=True), "o", color="C0", alpha=0.7, label="ours, each seed")
    axes.set(yticks=range(len(names)), yticklabels=names, xlabel=metric, xlim=(None, 100.5))
    axes.invert_yaxis()
    # Outside: a mark may be anywhere in a table.
    figure.legend(loc="outside upper right", ncols=2)
    return {"table": figure}
