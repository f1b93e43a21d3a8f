"""The rows of Table 1 on pictures without colours: what CIFAR-10 shows is not a matter of colours alone."""

from __future__ import annotations

from dataclasses import replace

from aninfonce_papers.engine import Experiment, Preset, Study
from aninfonce_papers.engine.published import ANINFONCE
from aninfonce_papers.rusak2025 import cifar10
from aninfonce_papers.rusak2025.simclr.experiment import PUBLISHED_METHODS, UNTRAINED
from aninfonce_papers.rusak2025.simclr.grid import Sizes, table_experiments
from aninfonce_papers.rusak2025.simclr.table import plot

# The network and the recipe of CIFAR-10, for fewer epochs.
_NIGHT = replace(
    cifar10.SIZES["overnight"],
    data="fashion-mnist",
    images=60_000,
    epochs=17,
    seconds=(0.17, 200.0),
    grey=True,
)
SIZES: dict[Preset, Sizes] = {
    "smoke": replace(
        _NIGHT, width=8, features=16, hidden=16, dim=8, images=256, test_images=128, epochs=2, batch_size=64
    ),
    "laptop": replace(_NIGHT, epochs=4),
    "overnight": _NIGHT,
}


def experiments(preset: Preset) -> list[Experiment]:
    """Give the three rows of the table, and the network before training."""
    return table_experiments((*PUBLISHED_METHODS, UNTRAINED), SIZES[preset])


STUDY = Study(
    name="fashion-mnist",
    title="Fashion-MNIST, without colours: classes and augmentations that AnInfoNCE and InfoNCE keep",
    paper=f"Ours, after Table 1 of {ANINFONCE}",
    source="nothing: the paper has photographs alone",
    experiments=experiments,
    plot=plot,
    presets=("smoke", "laptop", "overnight"),
)
