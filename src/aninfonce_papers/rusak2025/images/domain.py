"""Appendix G: augmented images look different from plain ones, and a classifier sees it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import torch
from pydantic import PositiveInt
from torch import Tensor, nn

from aninfonce.augment import Augmentation, simclr
from aninfonce.datasets import load_images
from aninfonce.extending import embed_in_chunks, fastest_order, pixel_tensor, stream, weights_from
from aninfonce_papers.engine import Experiment, Metrics, Pairs, Preset, Published, Row, Score, Study
from aninfonce_papers.engine.drawing import new_figure
from aninfonce_papers.engine.published import ANINFONCE
from aninfonce_papers.rusak2025.images.views import shown_once

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METRIC = "domain accuracy [%]"
# Data set of the paper, published accuracy, and the share of the steps: digits need few.
_KINDS: dict[str, tuple[Literal["mnist", "cifar10"], float, float]] = {
    "grey images": ("mnist", 99.1, 0.2),
    "colour images": ("cifar10", 99.2, 1.0),
}
# Images to train on and to ask about, steps, batch size, width of the network, and seconds of a run.
_SIZES: dict[Preset, tuple[int, int, int, int, int, float]] = {
    "smoke": (500, 300, 15, 64, 4, 1.0),
    "laptop": (50_000, 10_000, 10_000, 32, 16, 180.0),
    "paper": (50_000, 10_000, 20_000, 256, 64, 4_000.0),
}
_RATE = 5e-3
# Multiplies the detail, which is small beside the image.
_DETAIL = 10.0


class PlainImages(Pairs):
    """Images of a data set.

    Attributes:
        dataset: by name.
        train: how many to train on.
        asked: how many test images to classify.

    """

    dataset: str
    train: PositiveInt
    asked: PositiveInt


class DetailNet(nn.Module):
    """Five 3×3 convolutions on an image and on its finest detail, averaged over the image.

    Every crop is scaled, which smooths single pixels: the detail is there as channels of its own, and the
    first convolution sees it at full size.

    Example:
        >>> DetailNet(3, width=4)(torch.zeros(2, 3, 32, 32)).shape
        torch.Size([2])

    Args:
        channels: of the image.
        width: channels after the first convolution; twice and four times as many later.

    """

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        sizes = (2 * channels, width, width, 2 * width, 2 * width, 4 * width)
        for (n_in, n_out), stride in zip(pairwise(sizes), (1, 2, 1, 2, 2), strict=True):
            convolution = nn.Conv2d(n_in, n_out, 3, stride=stride, padding=1, bias=False)
            layers += [convolution, nn.BatchNorm2d(n_out), nn.ReLU()]
        layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, 1), nn.Flatten(0)]
        self.order = fastest_order(width)
        self.layers = nn.Sequential(*layers).to(memory_format=self.order)  # type: ignore[call-overload]

    def forward(self, x: Tensor) -> Tensor:
        """Give a logit for each image (N, C, H, W)."""
        smooth = nn.functional.avg_pool2d(nn.functional.pad(x, (1, 1, 1, 1), mode="reflect"), 3, 1)
        seen = torch.cat([2.0 * x - 1.0, _DETAIL * (x - smooth)], dim=1)
        logits: Tensor = self.layers(seen.contiguous(memory_format=self.order))
        return logits


class DomainAccuracy(Score):
    """Whether a small network sees that an image was augmented.

    Attributes:
        augmentations: SimCLR's for this data set.
        steps: of training.
        batch_size: images of a step.
        width: of the network.

    """

    augmentations: Literal["mnist", "cifar10"]
    steps: PositiveInt
    batch_size: PositiveInt
    width: PositiveInt

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Learn on training images, half of them augmented; answer for test images."""
        pairs = experiment.pairs
        assert isinstance(pairs, PlainImages)
        train = load_images(pairs.dataset, "train").take(pairs.train).images
        asked = load_images(pairs.dataset, "test").take(pairs.asked).images
        return {METRIC: 100.0 * self.accuracy(train, asked, simclr(self.augmentations), seed)}

    def accuracy(self, train: Any, test: Any, augmentation: Augmentation, seed: int) -> float:
        """Learn on some images whether they were augmented, and answer for others.

        Args:
            train: images (N, C, H, W) to learn from, with new augmentations whenever they are shown.
            test: images (M, C, H, W) to answer for, each shown once, changed or not.
            augmentation: to notice.
            seed: of weights, order and augmentations.

        Returns:
            Share of right answers; chance is ½.

        """
        generator = stream(seed, "domain")
        with weights_from(generator):
            network = DetailNet(train.shape[1], self.width)
        optimizer = torch.optim.Adam(network.parameters(), lr=_RATE)
        for step in range(self.steps):
            optimizer.param_groups[0]["lr"] = _RATE * (1 - step / self.steps)
            rows = torch.randint(len(train), (self.batch_size,), generator=generator)
            shown, changed = shown_once(pixel_tensor(train[rows.numpy()]), augmentation, generator)
            loss = nn.functional.binary_cross_entropy_with_logits(network(shown), changed.float())
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        shown, changed = shown_once(pixel_tensor(test), augmentation, generator)
        answers: Tensor = embed_in_chunks(network, shown, chunk=1_024) > 0
        return float((answers == changed).double().mean())


def experiments(preset: Preset) -> list[Experiment]:
    """Give grey images, MNIST unless changed, and colour images, CIFAR-10."""
    train, asked, steps, batch_size, width, seconds = _SIZES[preset]
    return [
        Experiment(
            name=name,
            pairs=PlainImages(dataset=dataset, train=train, asked=asked),
            score=DomainAccuracy(
                augmentations=dataset, steps=round(share * steps), batch_size=batch_size, width=width
            ),
            published={METRIC: Published(published, precision=0.05)},
            judged_if={"pairs.dataset": dataset},
            seconds=share * seconds,
        )
        for name, (dataset, published, share) in _KINDS.items()
    ]


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw the accuracies beside the published ones."""
    figure = new_figure(4.5, 3.2)
    axes = figure.add_subplot()
    for row in rows:
        axes.plot(row.cell, row.number(METRIC), "o", color="C0")
        for known in row.published.values():
            axes.plot(row.cell, known.value, "_", color="black", markersize=30)
    axes.axhline(50.0, color="black", linestyle=":", linewidth=1)
    axes.set(ylabel="accuracy [%]", ylim=(45, 101), title="Augmented or plain? (lines: published)")
    axes.margins(x=0.4)
    return {"domain": figure}


STUDY = Study(
    name="domain",
    title="Augmented images told from plain ones",
    paper=ANINFONCE,
    source="Appendix G; trained on training images, asked about test images",
    experiments=experiments,
    plot=plot,
    remarks=(
        "The classifier is five convolutions on an image and on its finest detail, with 2000 steps of 32"
        " images on the laptop preset, 10 000 for colour images.",
    ),
)
