"""What the studies of 3DIdent and Causal3DIdent share: pictures, networks, recipes and when values count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from aninfonce.encoders import ProjectedEncoder, ResNet, build_encoder
from aninfonce.extending import (
    HELD_OUT_LOSS,
    SEEN_LOSS,
    ImageRows,
    check_choice,
    coarse_pixels,
    derive_seed,
    pixel_tensor,
    stream,
    weights_from,
)
from aninfonce.processes import DataGeneratingProcess
from aninfonce.sources import ArraySource, NeighbourOrder, PairSource
from aninfonce.training import TrainingConfig
from aninfonce_papers.engine.base import Cell, Configuration, Preset, Published
from aninfonce_papers.worlds.scenes import (
    NORMALIZATION,
    DrawnImages,
    MatchedSource,
    PicturePairs,
    SceneImages,
    drawn,
    is_released,
    read_scenes,
    scene_process,
)

RENDERED = "rendered"
# Pictures are the same for every seed, as a data set would be; seeds draw weights, order and views.
_DATA_SEED = 0
_FOR_STATISTICS = 1_000

# `data` is "rendered", or a folder in the released layout; `images` is how many training pictures (pairs) are
# drawn, and `keep` whether they go to the cache or are drawn again each time. `batches` of drawn pairs may be
# of "neighbours" instead of random pictures.
SIZES: dict[Preset, Configuration] = {
    "smoke": {
        "data": RENDERED,
        "images": 70,
        "keep": True,
        "test_images": 70,
        "size": 24,
        "encoder": "small-conv",
        "width": 8,
        "recipe": "fast",
        "steps": 3,
        "batch_size": 16,
        "temperature": 0.02,
    },
    "laptop": {
        "data": RENDERED,
        "images": 20_000,
        "keep": True,
        "test_images": 4_096,
        "size": 48,
        "encoder": "small-conv",
        "width": 16,
        "recipe": "fast",
        "steps": 1_200,
        "batch_size": 256,
        "temperature": 0.02,
    },
    "paper": {
        "data": RENDERED,
        "images": 250_000,
        "keep": False,
        "test_images": 4_096,
        "size": 224,
        "encoder": "resnet18",
        "width": 64,
        "recipe": "paper",
        "steps": 30_000,
        "batch_size": 512,
        "temperature": 1.0,
    },
}
# Seconds of one step on one core, for estimates before there are rows to go by.
_STEP_SECONDS: dict[Preset, float] = {"smoke": 0.3, "laptop": 0.2, "paper": 300.0}


@dataclass(frozen=True)
class SceneCell(Cell):
    """A cell whose published values count only on the pictures that they were measured on.

    Attributes:
        printed: the published values, with the verdict that they allow on the released files.

    """

    printed: Mapping[str, Published] = field(default_factory=dict)

    def __post_init__(self) -> None:
        values = self.printed
        if not _as_released(self.settings):
            values = {name: replace(value, goal="shown", target=None) for name, value in values.items()}
        object.__setattr__(self, "published", values)


def scene_cell(
    preset: Preset,
    name: str,
    parameters: Configuration,
    settings: Configuration,
    printed: Mapping[str, Published],
    factor: float = 1.0,
) -> SceneCell:
    """Give a cell with an estimate of its time; `factor` compares its steps with others."""
    seconds = 5.0 + settings.get("steps", 0) * _STEP_SECONDS[preset] * factor
    return SceneCell(name, parameters, settings, estimate=seconds, printed=printed)


def label(settings: Configuration) -> str:
    """Say which pictures a result was measured on."""
    if settings["data"] == RENDERED:
        return "rendered on demand"
    return "released files" if _as_released(settings) else "a rendered folder"


def _as_released(settings: Configuration) -> bool:
    """Tell whether pictures are the authors': never those drawn on demand, whatever folders are about."""
    return settings["data"] != RENDERED and is_released(settings["data"])


def pictures(latents: Tensor, settings: Configuration, shapes: Sequence[str] = ("teapot",)) -> ImageRows:
    """Draw latents (n, 10) with the objects in turn: once into the cache, or each time anew."""
    z, classes = latents.double().numpy(), np.arange(len(latents)) % len(shapes)
    if settings["keep"]:
        return drawn(z, settings["size"], classes=classes, shapes=shapes)
    return DrawnImages(z, settings["size"], classes=classes, shapes=shapes)


def stored(settings: Configuration, split: str, kind: str) -> SceneImages:
    """Open the folder of a cell, and require that it holds this data set."""
    scenes = read_scenes(settings["data"], split, size=settings["size"])
    if scenes.kind != kind:
        raise ValueError(f"`data` must be a folder of {kind}, got one of {scenes.kind}")
    return scenes


def pairs(
    law: DataGeneratingProcess,
    settings: Configuration,
    seed: int,
    kind: str,
    shapes: Sequence[str] = ("teapot",),
    views: Callable[[ImageRows], PairSource] | None = None,
) -> tuple[PairSource, ImageRows]:
    """Give the training pairs of a cell, and pictures whose colours they have.

    Args:
        law: of the latents.
        settings: of the cell.
        seed: of the order, and of matched pairs.
        kind: of the data set.
        shapes: the objects, as many of each.
        views: makes pairs of pictures; without it, positives have latents drawn by the law.

    """
    if settings["data"] != RENDERED:
        given = stored(settings, "train", kind)
        source = MatchedSource(given, law, seed) if views is None else views(given.images)
        return source, given.images
    # Anchors come first from the generator: they are the same, and drawn once, for all laws.
    drawn_pairs = law.sample(settings["images"], stream(_DATA_SEED, "scenes", "train"))
    assert drawn_pairs.z is not None
    assert drawn_pairs.z_pos is not None
    anchors = pictures(drawn_pairs.z, settings, shapes)
    if views is not None:
        return views(anchors), anchors
    positives = pictures(drawn_pairs.z_pos, settings, shapes)
    rows = PicturePairs(anchors, positives, drawn_pairs.z)
    batches = settings.get("batches", "random")
    check_choice(batches, "batches", ("random", "neighbours"))
    if batches == "neighbours":
        order = NeighbourOrder(coarse_pixels(anchors), seed, what="pairs")
        return ArraySource(rows, seed, order=order), anchors
    return ArraySource(rows, seed), anchors


def training_pictures(settings: Configuration, kind: str) -> tuple[ImageRows, Tensor]:
    """Give the anchors' pictures and latents (N, 10) of a cell without classes."""
    if settings["data"] != RENDERED:
        given = stored(settings, "train", kind)
        return given.images, torch.from_numpy(np.array(given.latents)).float()
    latents = _uniform(settings["images"], "train")
    return pictures(latents, settings), latents


def held_out_pictures(
    settings: Configuration, kind: str, shapes: Sequence[str] = ("teapot",)
) -> tuple[Tensor, Tensor, Tensor]:
    """Give test pictures (n, 3, size, size), their latents (n, 10) and classes (n,)."""
    n = settings["test_images"]
    if settings["data"] != RENDERED:
        # In random order, not by classes: scores are fitted on every other row.
        given = stored(settings, "test", kind)
        rows = np.random.default_rng(derive_seed(_DATA_SEED, "scenes", "test")).permutation(len(given))[:n]
        latents, classes = (torch.from_numpy(np.array(a[rows])) for a in (given.latents, given.classes))
        return pixel_tensor(given.images[rows]), latents.float(), classes
    z = _uniform(n, "test")
    images = pictures(z, settings, shapes)
    return pixel_tensor(images[np.arange(n)]), z, torch.arange(n) % len(shapes)


def _uniform(n: int, split: str) -> Tensor:
    return scene_process(size=None).marginal.sample(n, stream(_DATA_SEED, "scenes", split))


class Standardize(nn.Module):
    """Subtract the mean of each channel and divide by its standard deviation."""

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: Sequence[float], scale: Sequence[float]) -> None:
        super().__init__()
        for name, values in (("mean", mean), ("scale", scale)):
            self.register_buffer(name, torch.tensor(values, dtype=torch.float32).view(1, -1, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Scale pictures (N, C, H, W)."""
        return (x - self.mean) / self.scale


def standardize(settings: Configuration, images: ImageRows, kind: str) -> Standardize:
    """Scale by the published statistics on the released files, by those of some pictures elsewhere."""
    if _as_released(settings):
        return Standardize(*NORMALIZATION[kind])
    some = pixel_tensor(images[np.arange(min(_FOR_STATISTICS, len(images)))])
    return Standardize(some.mean(dim=(0, 2, 3)).tolist(), some.std(dim=(0, 2, 3)).tolist())


def network(settings: Configuration, inputs: Standardize, dim: int, seed: int) -> nn.Sequential:
    """Build the network of a cell, to (N, dim), before its head."""
    generator = stream(seed, "network")
    if settings["encoder"] != "resnet18":
        options = {"out_features": dim, "width": settings["width"], "generator": generator}
        return nn.Sequential(inputs, build_encoder(settings["encoder"], **options))
    backbone = ResNet(18, width=settings["width"], generator=generator)
    with weights_from(generator):
        last = nn.Sequential(nn.Linear(backbone.out_features, 100), nn.LeakyReLU(), nn.Linear(100, dim))
    return nn.Sequential(inputs, ProjectedEncoder(backbone, last))


def loss_curve(settings: Configuration) -> str:
    """Name the column of the history that holds the loss of the evaluations."""
    return HELD_OUT_LOSS if _held_out(settings) else SEEN_LOSS


def _held_out(settings: Configuration) -> float:
    """Give the share of pictures to evaluate on: none of a data set that has test pictures, as published."""
    # Of a few pictures, enough to be evaluated on at all.
    return max(0.1, 16 / settings["images"]) if settings["data"] == RENDERED else 0.0


def training_config(
    settings: Configuration, seed: int, *, dim: int, space: str, loss: Mapping[str, Any]
) -> TrainingConfig:
    """Translate a cell's sizes to the settings of a training; nothing is fitted to a sphere afterwards."""
    steps = settings["steps"]
    recipe: dict[str, Any] = {
        "name": settings["recipe"],
        "steps": steps,
        "batch_size": settings["batch_size"],
        "growth": (),
        "unfold": None,
        "close": None,
    }
    if settings["recipe"] == "fast":
        recipe |= {"muon_lr": 0.05, "warmup": min(50, steps // 4)}
    return TrainingConfig.model_validate(
        {
            "dim": dim,
            "recipe": recipe,
            "space": space,
            "loss": dict(loss),
            "seed": seed,
            "log_every": max(1, steps // 20),
            "evaluate_every": max(1, steps // 10),
            "evaluation_pairs": 1_024,
            "held_out": _held_out(settings),
            "checkpoint_every": 0,
        }
    )
