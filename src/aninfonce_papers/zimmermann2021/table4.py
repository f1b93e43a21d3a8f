"""Table 4 of cl-ica: latents of rendered scenes (3DIdent), from pairs that share their causes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from aninfonce.augment import ViewSource, simclr
from aninfonce.extending import ImageRows, pixel_tensor, stream
from aninfonce.metrics import identity_baseline, linear_r2, mean_correlation_coefficient
from aninfonce.sources import PairSource
from aninfonce.training import fit
from aninfonce_papers.engine import trained
from aninfonce_papers.engine.base import CL_ICA, Cell, Configuration, Metrics, Preset, Published, Study
from aninfonce_papers.models.supervised import embed, supervise
from aninfonce_papers.worlds.scenes import scene_process
from aninfonce_papers.worlds.scenes.pairs import BOX
from aninfonce_papers.zimmermann2021 import cl_ica, scenes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

R2, MCC = "R² [%]", "MCC [%]"
_KIND = "threedident"
# Pairs, space and model; R² and its spread, MCC and its spread.
ROWS = (
    ("normal", "box", "Normal", (96.73, 0.10), (98.31, 0.04)),
    ("normal", "unbounded", "Normal", (96.43, 0.03), (54.94, 0.02)),
    ("laplace", "box", "Normal", (96.87, 0.08), (98.38, 0.03)),
    ("normal", "sphere", "vMF", (65.74, 0.01), (42.44, 3.27)),
    ("augmentations", "sphere", "vMF", (45.51, 1.43), (46.34, 1.59)),
)
_PARTITIONS = {"position": (0, 1, 2), "rotation": (3, 4, 5), "spotlight": (6,), "hues": (7, 8, 9)}
# Augmentations are made for each picture of each step.
_SLOWER = {"augmentations": 1.6}
# Ours: larger pictures, a network that looks closely at the object, and batches of pictures that look alike,
# which only turns tell apart. Pairs matched to released pictures are as wide, though drawn with 0.1.
_GLIMPSE: Configuration = {"encoder": "glimpse", "scale": 0.2}
_CLOSER: dict[Preset, Configuration] = {
    "smoke": {**_GLIMPSE, "size": 28},
    "laptop": {**_GLIMPSE, "size": 64, "images": 30_000, "steps": 700, "temperature": 0.1},
}
_CLOSER_SLOWER = 3.2


def cells(preset: Preset) -> list[Cell]:
    """Give the five rows and the two baselines, and on a laptop some of them once more with a closer look."""
    sizes = scenes.SIZES[preset]
    found: list[scenes.SceneCell] = []
    for number, (pairs, space, model, r2, mcc) in enumerate(ROWS, start=1):
        # Rows that lack what the theory asks for are meant to come out as they did.
        fails = space != "box"
        printed = {R2: _value(*r2, fails=space == "sphere"), MCC: _value(*mcc, fails=fails)}
        parameters = {"pairs": pairs, "space": space, "model": model}
        name = f"row {number}: {pairs} → {space}, {model}"
        settings = sizes if pairs == "augmentations" else {**sizes, "scale": 0.1}
        found.append(scenes.scene_cell(preset, name, parameters, settings, printed, _SLOWER.get(pairs, 1.0)))
    apart = {name: sizes[name] for name in ("data", "keep", "test_images", "size")}
    identity = {R2: _value(5.25, 1.20, fails=True)}
    supervised = {R2: _value(98.67, 0.03), MCC: _value(99.33, 0.01)}
    without = {name: value for name, value in sizes.items() if name != "temperature"}
    told = scenes.scene_cell(preset, "supervised", {"model": "supervised"}, without, supervised, 0.5)
    closer = [found[0], found[1], found[3], told] if preset in _CLOSER else []
    return [
        *found,
        scenes.scene_cell(preset, "identity", {"model": "identity"}, apart, identity),
        told,
        *(_look_closer(preset, cell) for cell in closer),
    ]


def _look_closer(preset: Preset, cell: scenes.SceneCell) -> Cell:
    """Give a cell once more, with what of its settings a closer look changes."""
    settings = {name: _CLOSER[preset].get(name, value) for name, value in cell.settings.items()}
    factor = 0.5 * _CLOSER_SLOWER
    if "pairs" in cell.parameters:
        settings["batches"] = "neighbours"
        factor = _CLOSER_SLOWER
    name = "closer look: " + cell.name.split(": ")[-1]
    return scenes.scene_cell(preset, name, cell.parameters, settings, cell.printed, factor)


def run(cell: Cell, seed: int) -> Metrics:
    """Train one row, or score a baseline, and read all ten latents off test pictures."""
    settings = cell.configuration
    x, z, _ = scenes.held_out_pictures(settings, _KIND)
    if settings["model"] == "identity":
        found = identity_baseline(z, x.flatten(1))
        return {R2: 100.0 * found.r2.mean, MCC: 100.0 * found.mcc.mean, "data": scenes.label(settings)}
    if settings["model"] == "supervised":
        return _scores(z, _supervised(settings, seed, x), settings)
    source, images = _source(settings, seed)
    loss = cl_ica.MODELS[settings["model"]]
    options = {**loss["options"], "temperature": settings["temperature"]}
    config = scenes.training_config(
        settings,
        seed,
        dim=z.shape[1],
        space=cl_ica.HEADS[settings["space"]],
        loss={**loss, "options": options},
    )
    inputs = scenes.standardize(settings, images, _KIND)
    fitted = fit(source, config, encoder=scenes.network(settings, inputs, z.shape[1], seed))
    curve = scenes.loss_curve(settings) if settings["pairs"] == "augmentations" else "r2"
    return {**_scores(z, fitted.embed(x), settings), "curves": trained.curves(fitted, curve)}


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw ours beside the published values, for both metrics."""
    return {
        name: cl_ica.table_plot([row for row in rows if metric in row["published"]], metric)["table"]
        for name, metric in (("R²", R2), ("MCC", MCC))
        if any(metric in row["published"] for row in rows)
    }


def _source(settings: Configuration, seed: int) -> tuple[PairSource, ImageRows]:
    """Give the pairs of a row, and pictures whose colours they have."""
    if settings["pairs"] == "augmentations":
        law = scene_process(size=None)
        return scenes.pairs(law, settings, seed, _KIND, views=lambda x: ViewSource(x, simclr(), seed))
    law = scene_process(settings["pairs"], settings["scale"], size=None)
    return scenes.pairs(law, settings, seed, _KIND)


def _supervised(settings: Configuration, seed: int, x: Tensor) -> Tensor:
    """Train the same network on the squared error to the latents, and embed test pictures."""
    order = stream(seed, "supervised")
    images, latents = scenes.training_pictures(settings, _KIND)

    def draw(n: int) -> tuple[Tensor, Tensor]:
        rows = torch.randint(len(latents), (n,), generator=order)
        return pixel_tensor(images[rows.numpy()]), latents[rows]

    dim = BOX.dim
    config = scenes.training_config(settings, seed, dim=dim, space="unbounded", loss={"name": "infonce"})
    model = scenes.network(settings, scenes.standardize(settings, images, _KIND), dim, seed)
    supervise(model, draw, config.recipe)
    return torch.cat([embed(model, part) for part in torch.split(x, 512)])


def _scores(z: Tensor, embedding: Tensor, settings: Configuration) -> Metrics:
    score = linear_r2(z, embedding, partitions=_PARTITIONS)
    return {
        R2: 100.0 * score.mean,
        MCC: 100.0 * mean_correlation_coefficient(z, embedding).mean,
        **{f"R² of {name} [%]": 100.0 * value for name, value in score.per_partition.items()},
        "data": scenes.label(settings),
    }


def _value(value: float, spread: float, *, fails: bool = False) -> Published:
    return Published(value, spread, precision=0.005, goal="equal" if fails else "higher")


STUDY = Study(
    name="table4",
    title="Latents of rendered scenes (3DIdent)",
    paper=CL_ICA,
    source="Table 4, three seeds, on the released pictures; ours on held-out pictures",
    cells=cells,
    run=run,
    plot=plot,
    remarks=(
        "On scenes that are drawn here, published values stand beside ours without a verdict: the pictures"
        " are others, and positives have exactly the latents that were drawn for them.",
        "At the laptop preset's 48 pixels no row sees the object's rotation, and the supervised network"
        " hardly. The other seven latents fit on a sphere, so that row 4 keeps its R² here.",
        "With a closer look, at 64 pixels, the supervised network sees rotation: the pictures show it. The"
        " contrastive ones have only begun to after 700 steps, too little for a sphere to be too small.",
    ),
)
