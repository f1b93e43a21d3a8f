"""Table 4 of cl-ica: latents of rendered scenes (3DIdent), from pairs that share their causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

import torch
from pydantic import JsonValue
from torch import Tensor

from aninfonce.augment import ViewSource, simclr
from aninfonce.extending import embed_in_chunks, pixel_tensor, stream
from aninfonce.metrics import identity_baseline, linear_r2
from aninfonce_papers.engine import Experiment, Loss, Metrics, Preset, Published, Row, Score, Study
from aninfonce_papers.engine.drawing import new_figure
from aninfonce_papers.engine.on_process import curves, recovery
from aninfonce_papers.engine.published import CL_ICA
from aninfonce_papers.engine.row import PRESETS
from aninfonce_papers.models.supervised import supervise
from aninfonce_papers.worlds.scenes import LATENTS, scene_process
from aninfonce_papers.worlds.scenes.pairs import BOX
from aninfonce_papers.zimmermann2021 import scenes
from aninfonce_papers.zimmermann2021.cl_ica import HEADS, LOSSES, Space, table_plot
from aninfonce_papers.zimmermann2021.scene_encoders import WideStart
from aninfonce_papers.zimmermann2021.wide_start import narrowed, train_start

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Law = Literal["normal", "laplace", "augmentations"]

R2, MCC = "R² [%]", "MCC [%]"
# Name of the curve of each latent's R² in the history of a training.
PER_LATENT = "r2_per_latent"
# Pairs, space and model; R² and its spread, MCC and its spread.
ROWS: tuple[tuple[Law, Space, str, tuple[float, float], tuple[float, float]], ...] = (
    ("normal", "box", "Normal", (96.73, 0.10), (98.31, 0.04)),
    ("normal", "unbounded", "Normal", (96.43, 0.03), (54.94, 0.02)),
    ("laplace", "box", "Normal", (96.87, 0.08), (98.38, 0.03)),
    ("normal", "sphere", "vMF", (65.74, 0.01), (42.44, 3.27)),
    ("augmentations", "sphere", "vMF", (45.51, 1.43), (46.34, 1.59)),
)
_PARTITIONS = {"position": (0, 1, 2), "rotation": (3, 4, 5), "spotlight": (6,), "hues": (7, 8, 9)}
# Augmentations are made for each picture of each step.
_SLOWER = {"augmentations": 1.6}
_CLOSER_SLOWER = 3.2
# Of the rows with hard negatives: together as many as the other rows have.
_START_STEPS, _STEPS_AFTER_START = 5_000, 2_000
# What is there already needs small steps, and the temperature of the pairs.
_RATES_AFTER_START, _SHARP_TEMPERATURE = (0.002, 1e-3), 0.02


class SceneScore(Score):
    """All ten latents read off test pictures."""

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Embed the test pictures, and score the embedding."""
        pairs, _ = scenes.parts_of(experiment)
        x, z, _ = pairs.held_out_pictures()
        embedding, more = self.embed(experiment, x, seed)
        score = linear_r2(z, embedding, partitions=_PARTITIONS)
        parts = {f"R² of {name} [%]": 100.0 * value for name, value in score.per_partition.items()}
        return {**recovery(z, embedding), **parts, "data": pairs.label, **more}

    def embed(self, experiment: Experiment, x: Tensor, seed: int) -> tuple[Tensor, Metrics]:
        """Train, and embed pictures; says how the training went."""
        raise NotImplementedError


class Contrastive(SceneScore):
    """A network trained on pairs.

    Attributes:
        law: of positives around their anchors, or augmentations of one picture.
        scale: of that law.

    """

    law: Law
    scale: float = 0.1

    def embed(self, experiment: Experiment, x: Tensor, seed: int) -> tuple[Tensor, Metrics]:
        """Train on pairs, and embed pictures."""
        pairs, _ = scenes.parts_of(experiment)
        start = network = None
        if self.law == "augmentations":
            source, images = pairs.open(
                scene_process(size=None), seed, lambda rows: ViewSource(rows, simclr(), seed)
            )
        else:
            assert experiment.recipe is not None
            total = experiment.recipe.steps * experiment.recipe.batch_size
            law = scene_process(self.law, self.scale, size=None)
            source, images = pairs.open(law, seed, pairs=total)
            start = train_start(experiment, law, f"{self.law} {self.scale:g}", seed)
            if start is not None:
                network = narrowed(experiment, start, law, images, seed)
        fitted = scenes.train(experiment, source, images, seed, network)
        names = [scenes.loss_curve(pairs)] if self.law == "augmentations" else ["r2", PER_LATENT]
        found: dict[str, JsonValue] = {"curves": curves(fitted, *names)}
        if start is not None:
            found["start"] = {"seconds": round(start.seconds, 1), **curves(start, *names)}
        return fitted.embed(x), found


class Supervised(SceneScore):
    """The same network, trained on the true latents."""

    def embed(self, experiment: Experiment, x: Tensor, seed: int) -> tuple[Tensor, Metrics]:
        """Train on the squared error to the latents, and embed pictures."""
        pairs, encoder = scenes.parts_of(experiment)
        assert experiment.recipe is not None
        order = stream(seed, "supervised")
        images, latents = pairs.training_pictures()

        def draw(n: int) -> tuple[Tensor, Tensor]:
            rows = torch.randint(len(latents), (n,), generator=order)
            return pixel_tensor(images[rows.numpy()]), latents[rows]

        model = encoder.network(pairs.standardize(images), seed)
        supervise(model, draw, experiment.recipe)
        return embed_in_chunks(model, x, chunk=512), {}


class Identity(Score):
    """The scores of the pixels themselves."""

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Score them."""
        assert isinstance(experiment.pairs, scenes.ScenePairs)
        x, z, _ = experiment.pairs.held_out_pictures()
        found = identity_baseline(z, x.flatten(1))
        return {R2: 100.0 * found.r2.mean, MCC: 100.0 * found.mcc.mean, "data": experiment.pairs.label}


def experiments(preset: Preset) -> list[Experiment]:
    """Give the five rows and the two baselines, and some of them in our own ways, to see rotation."""
    sizes = scenes.SIZES[preset]
    rows = [_row(number, sizes) for number in range(1, len(ROWS) + 1)]
    # A supervised network needs fewer steps, and only the stored pictures.
    stored = replace(sizes, uses=0, night=False)
    told = _supervised(replace(stored, steps=4_000) if preset == "overnight" else stored)
    identity = Experiment(
        name="identity",
        pairs=scenes.scene_pairs("threedident", stored),
        score=Identity(),
        published={R2: _value(5.25, 1.20, fails=True)},
        judged_if=scenes.JUDGED_IF,
        seconds=5.0,
    )
    found = [*rows, identity, told]
    if preset == "paper":
        return found
    if preset == "overnight":
        return [*found, *(_row(number, sizes, "hard negatives") for number in (1, 2, 3, 4))]
    # Ours: larger pictures, a network that looks closely at the object, and batches of pictures that look
    # alike, which differ mostly by rotation.
    closer = replace(sizes, encoder="glimpse", size=28)
    if preset == "laptop":
        closer = replace(closer, size=64, images=30_000, steps=700, temperature=0.1)
    return [
        *found,
        *(_row(number, closer, "closer look") for number in (1, 2, 4)),
        _supervised(closer, "closer look: supervised", _CLOSER_SLOWER),
    ]


def _row(
    number: int, sizes: scenes.Sizes, way: Literal["closer look", "hard negatives"] | None = None
) -> Experiment:
    law, space, model, r2, mcc = ROWS[number - 1]
    if law == "augmentations":
        sizes = sizes.of_stored
    name = f"{law} → {space}, {model}"
    pairs, loss = scenes.scene_pairs("threedident", sizes), LOSSES[model]
    # Pairs matched to released pictures are as wide as 0.2, though drawn with 0.1.
    score = Contrastive(law=law, scale=0.2 if sizes.encoder == "glimpse" else 0.1)
    slower = _SLOWER.get(law, 1.0)
    if way == "closer look":
        pairs, slower = pairs.model_copy(update={"batches": "neighbours"}), _CLOSER_SLOWER
    encoder, before = scenes.scene_encoder(sizes, BOX.dim, HEADS[space]), 0.0
    if way == "hard negatives":
        # To the end: random batches of so few steps would let go of what they have little use for.
        pairs = pairs.model_copy(update={"batches": way, "hard_until": 1.0})
        encoder = encoder.model_copy(update={"start": WideStart(steps=_START_STEPS)})
        before = replace(sizes, steps=_START_STEPS).seconds()
        sizes = replace(
            sizes, steps=_STEPS_AFTER_START, rates=_RATES_AFTER_START, temperature=_SHARP_TEMPERATURE
        )
    return Experiment(
        name=f"{way or f'row {number}'}: {name}",
        pairs=pairs,
        encoder=encoder,
        loss=Loss(name=loss.name, options={**loss.options, "temperature": sizes.temperature}),
        recipe=sizes.build(),
        watch=scenes.watch(sizes),
        score=score,
        # Rows that lack what the theory asks for are meant to come out as they did.
        published={R2: _value(*r2, fails=space == "sphere"), MCC: _value(*mcc, fails=space != "box")},
        judged_if=scenes.JUDGED_IF,
        # The first row of a law that needs a start trains it for the others.
        seconds=before + sizes.seconds(slower),
    )


def _supervised(sizes: scenes.Sizes, name: str = "supervised", slower: float = 1.0) -> Experiment:
    return Experiment(
        name=name,
        pairs=scenes.scene_pairs("threedident", sizes),
        encoder=scenes.scene_encoder(sizes, BOX.dim, "unbounded"),
        recipe=sizes.build(),
        score=Supervised(),
        published={R2: _value(98.67, 0.03), MCC: _value(99.33, 0.01)},
        judged_if=scenes.JUDGED_IF,
        seconds=sizes.seconds(0.5 * slower),
    )


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw ours beside the published values, for both metrics, and R² of each latent over training."""
    drawn = {
        name: table_plot([row for row in rows if metric in row.published], metric)["table"]
        for name, metric in (("R²", R2), ("MCC", MCC))
        if any(metric in row.published for row in rows)
    }
    followed = [row for row in rows if PER_LATENT in _curves(row)]
    if followed:
        drawn["R² of each latent"] = _draw_latents(followed)
    return drawn


def _curves(row: Row) -> Mapping[str, JsonValue]:
    return cast(Mapping[str, JsonValue], row.metrics.get("curves", {}))


def _with_start(row: Row) -> tuple[Sequence[int], Sequence[JsonValue]]:
    """Give R² of each latent over all steps, those of a start included."""
    steps, values = row.curve(PER_LATENT)
    before = cast(Mapping[str, Sequence[Any]], row.metrics.get("start", {"steps": [], PER_LATENT: []}))
    offset = max(before["steps"], default=0)
    return [*before["steps"], *(offset + step for step in steps)], [*before[PER_LATENT], *values]


def _draw_latents(rows: Sequence[Row]) -> Figure:
    """Draw a panel for each run: rotations in colours, the other latents in grey."""
    figure = new_figure(9.0, 1.0 + 2.6 * -(-len(rows) // 2))
    for place, row in enumerate(rows, start=1):
        axes = figure.add_subplot(-(-len(rows) // 2), 2, place)
        steps, values = _with_start(row)
        for latent, name in enumerate(LATENTS):
            (line,) = axes.plot(steps, [cast(Sequence[float], each)[latent] for each in values], color="0.7")
            if latent in _PARTITIONS["rotation"]:
                line.set(color=f"C{latent - _PARTITIONS['rotation'][0]}", label=name)
        axes.set(xlabel="step", ylabel="R²", ylim=(-0.1, 1.02))
        axes.set_title(f"{row.cell}, seed {row.seed}", fontsize=9)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _value(value: float, spread: float, *, fails: bool = False) -> Published:
    return Published(value, spread, precision=0.005, goal="equal" if fails else "higher")


STUDY = Study(
    name="table4",
    title="Latents of rendered scenes (3DIdent)",
    paper=CL_ICA,
    source="Table 4, three seeds, on the released pictures; ours on held-out pictures",
    experiments=experiments,
    plot=plot,
    presets=PRESETS,
    remarks=(
        "On scenes that are drawn here, published values stand beside ours without a verdict: the pictures"
        " are others, and positives have exactly the latents that were drawn for them.",
        "At the laptop preset's 48 pixels no row sees the object's rotation, and the supervised network"
        " hardly. The other seven latents fit on a sphere, so that row 4 keeps its R² here.",
        "Cells with hard negatives (preset overnight) recover all ten. Single latents are then told apart"
        " without a box as well, though with it more so: the columns begin along directions that groups of"
        " scenes tell, and the loss of row 2 leaves them there.",
        "With a closer look, at 64 pixels, the supervised network sees rotation: the pictures show it. The"
        " contrastive ones have only begun to see it after 700 steps, too little to show that a sphere is too"
        " small.",
    ),
)
