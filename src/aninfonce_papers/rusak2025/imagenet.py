"""Table 1 on ImageNet, or on any folder of pictures with one folder per class."""

from __future__ import annotations

from dataclasses import replace

from aninfonce_papers.engine import Experiment, Preset, Study
from aninfonce_papers.engine.published import ANINFONCE
from aninfonce_papers.rusak2025.simclr.experiment import PUBLISHED_METHODS
from aninfonce_papers.rusak2025.simclr.grid import Sizes, table_experiments
from aninfonce_papers.rusak2025.simclr.table import plot

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
_PAPER = Sizes(
    "imagenet",
    "paper",
    "imagenet",
    width=64,
    hidden=512,
    dim=256,
    images=1_281_167,
    test_images=50_000,
    epochs=100,
    batch_size=512,
    seconds=(1_000.0, 1e6),
    depth=50,
    size=224,
)
SIZES: dict[Preset, Sizes] = {
    "smoke": replace(
        _PAPER,
        size=32,
        width=8,
        hidden=16,
        dim=8,
        images=64,
        test_images=64,
        epochs=2,
        batch_size=16,
        seconds=(0.2, 1.0),
    ),
    "laptop": replace(
        _PAPER, size=64, width=16, images=10_000, test_images=5_000, epochs=10, seconds=(10.0, 300.0)
    ),
    "paper": _PAPER,
}


def experiments(preset: Preset) -> list[Experiment]:
    """Give InfoNCE, AnInfoNCE, and AnInfoNCE without ℓ2, for which the paper prints no values."""
    return table_experiments(PUBLISHED_METHODS, SIZES[preset], _PAPER, _PRINTED)


STUDY = Study(
    name="imagenet",
    title="ImageNet, or a folder of pictures: classes and augmentations that are kept",
    paper=ANINFONCE,
    source="Table 1; `--set pairs.data=FOLDER` says where the pictures are",
    experiments=experiments,
    plot=plot,
)
