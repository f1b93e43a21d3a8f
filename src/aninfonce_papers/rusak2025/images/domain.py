"""Appendix G: augmented images look different from plain ones, and a classifier sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from aninfonce.augment import Augmentation, simclr
from aninfonce.datasets import load_images
from aninfonce.encoders import SmallConvNet
from aninfonce.extending import embed_in_chunks, pixel_tensor, stream
from aninfonce_papers.engine.base import ANINFONCE, Cell, Configuration, Metrics, Preset, Published, Study
from aninfonce_papers.rusak2025.images import world
from aninfonce_papers.rusak2025.images.views import shown_once

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

PUBLISHED = {"grey": 99.1, "colour": 99.2}
METRIC = "domain accuracy [%]"
SIZES: dict[Preset, Configuration] = {
    "smoke": {"train_images": 500, "asked_images": 300, "steps": 15, "batch_size": 64, "encoder_width": 4},
    "laptop": {
        "train_images": 50_000,
        "asked_images": 10_000,
        "steps": 1_000,
        "batch_size": 128,
        "encoder_width": 16,
    },
    "paper": {
        "train_images": 50_000,
        "asked_images": 10_000,
        "steps": 20_000,
        "batch_size": 256,
        "encoder_width": 64,
    },
}
_SECONDS: dict[Preset, float] = {"smoke": 1.0, "laptop": 60.0, "paper": 4_000.0}
_RATE = 3e-3


def cells(preset: Preset) -> list[Cell]:
    """Give grey images, MNIST unless changed, and colour images, CIFAR-10."""
    known = {kind: {METRIC: Published(v, precision=0.05)} for kind, v in PUBLISHED.items()}
    sizes = SIZES[preset]
    grey: Configuration = {"augmentations": "mnist"}
    colour = {"augmentations": "cifar10", "dataset": "cifar10"}
    settings = {**world.ORIGINAL, **sizes}
    return [
        Cell("grey images", grey, settings, known["grey"], _SECONDS[preset], world.ORIGINAL),
        Cell("colour images", colour, sizes, known["colour"], 2 * _SECONDS[preset]),
    ]


def run(cell: Cell, seed: int) -> Metrics:
    """Train a small network on training images, half of them augmented; accuracy on test images."""
    settings = cell.configuration
    images: list[Any] = [
        load_images(settings["dataset"], split).take(settings[count]).images
        for split, count in (("train", "train_images"), ("test", "asked_images"))
    ]
    augmentation = simclr(settings["augmentations"])
    return {METRIC: 100.0 * domain_accuracy(images[0], images[1], augmentation, settings, seed)}


def domain_accuracy(
    train: Any, test: Any, augmentation: Augmentation, settings: Mapping[str, Any], seed: int
) -> float:
    """Learn on some images whether they were augmented, and answer for others.

    Args:
        train: images (N, C, H, W) to learn from, with new augmentations whenever they are shown.
        test: images (M, C, H, W) to answer for, each shown once, changed or not.
        augmentation: to notice.
        settings: with `steps`, `batch_size` and `encoder_width`.
        seed: of weights, order and augmentations.

    Returns:
        Share of right answers; chance is ½.

    """
    generator = stream(seed, "domain")
    network = SmallConvNet(
        1, in_channels=train.shape[1], width=settings["encoder_width"], generator=generator
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=_RATE)
    steps, batch = settings["steps"], settings["batch_size"]
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = _RATE * (1 - step / steps)
        rows = torch.randint(len(train), (batch,), generator=generator)
        shown, changed = shown_once(pixel_tensor(train[rows.numpy()]), augmentation, generator)
        loss = nn.functional.binary_cross_entropy_with_logits(network(shown)[:, 0], changed.float())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    shown, changed = shown_once(pixel_tensor(test), augmentation, generator)
    answers: Tensor = embed_in_chunks(network, shown, chunk=1_024)[:, 0] > 0
    return float((answers == changed).double().mean())


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw the accuracies beside the published ones."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5, 3.2), layout="constrained")
    axes = figure.add_subplot()
    for row in rows:
        axes.plot(row["cell"], row["metrics"][METRIC], "o", color="C0")
        for known in row["published"].values():
            axes.plot(row["cell"], known["value"], "_", color="black", markersize=30)
    axes.axhline(50.0, color="black", linestyle=":", linewidth=1)
    axes.set(ylabel="accuracy [%]", ylim=(45, 101), title="Augmented or plain? (lines: published)")
    axes.margins(x=0.4)
    return {"domain": figure}


STUDY = Study(
    name="domain",
    title="Augmented images told from plain ones",
    paper=ANINFONCE,
    source="Appendix G; trained on training images, asked about test images",
    cells=cells,
    run=run,
    plot=plot,
    remarks=(
        "The classifier is four convolutions, with 1000 steps on the laptop preset; colour images want more.",
    ),
)
