"""Table 1 on ImageNet, or on any folder of pictures with one folder a class."""

from __future__ import annotations

from aninfonce_papers.engine.base import ANINFONCE, Cell, Configuration, Preset, Study
from aninfonce_papers.rusak2025.simclr.objectives import PUBLISHED_METHODS
from aninfonce_papers.rusak2025.simclr.running import run
from aninfonce_papers.rusak2025.simclr.table import plot, table_cells

_PRINTED = {
    "InfoNCE": {
        "backbone": (68.2, 98.7, 71.6, 72.5, 68.0, 61.2, 74.4),
        "projector": (57.7, 58.6, 51.9, 51.9, 51.5, 51.1, 53.0),
    },
    "AnInfoNCE": {
        "backbone": (59.0, 98.8, 81.5, 82.3, 71.6, 62.5, 79.3),
        "projector": (26.7, 71.0, 55.2, 54.1, 52.6, 52.7, 57.1),
    },
}
# The projector and τ are CIFAR-10's: the paper does not state others.
_PAPER: Configuration = {
    "data": "imagenet",
    "size": 224,
    "recipe": "paper",
    "depth": 50,
    "stem": "imagenet",
    "temperature": 0.5,
    "warmup_epochs": 10,
    "width": 64,
    "hidden": 512,
    "dim": 256,
    "images": 1_281_167,
    "test_images": 50_000,
    "epochs": 100,
    "batch_size": 512,
    "devices": 1,
}
SIZES: dict[Preset, Configuration] = {
    "smoke": {
        **_PAPER,
        "size": 32,
        "width": 8,
        "hidden": 16,
        "dim": 8,
        "images": 64,
        "test_images": 64,
        "epochs": 2,
        "batch_size": 16,
    },
    "laptop": {**_PAPER, "size": 64, "width": 16, "images": 10_000, "test_images": 5_000, "epochs": 10},
    "paper": _PAPER,
}
# Seconds of one step on one core, and of the probes.
_SECONDS: dict[Preset, tuple[float, float]] = {
    "smoke": (0.2, 1.0),
    "laptop": (10.0, 300.0),
    "paper": (1_000.0, 1e6),
}


def cells(preset: Preset) -> list[Cell]:
    """Give InfoNCE, AnInfoNCE, and AnInfoNCE without ℓ2, for which the paper prints no values."""
    return table_cells(preset, PUBLISHED_METHODS, SIZES[preset], _PRINTED, _SECONDS[preset])


STUDY = Study(
    name="imagenet",
    title="ImageNet, or a folder of pictures: classes and augmentations that are kept",
    paper=ANINFONCE,
    source="Table 1; `--set data=FOLDER` says where the pictures are",
    cells=cells,
    run=run,
    plot=plot,
)
