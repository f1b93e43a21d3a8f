"""What linear probes read off frozen features: the class, and which augmentation was applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor, nn

from aninfonce.augment import Augmentation, fixed
from aninfonce.datasets import LabelledImages
from aninfonce.extending import as_pixels, stream
from aninfonce.metrics import linear_probe_accuracy
from aninfonce_papers.engine import Metrics
from aninfonce_papers.rusak2025.simclr.network import Network

Strengths = Mapping[str, float | None]

# Each is read out at the largest strength that views of training have. Factors of 1.8 cut many pixels off at
# white, which alone gives brightness and contrast away; half of the change does so less.
READOUTS: Strengths = {
    "grey": None,
    "brightness": 1.8,
    "contrast": 1.8,
    "hue": 0.2,
    "saturation": 1.8,
}
HALVES: Strengths = {
    "grey": None,
    "brightness": 1.4,
    "contrast": 1.4,
    "hue": 0.1,
    "saturation": 1.4,
}
# Of images without colours. A crop keeps half of the area, a blur is as wide as any in training.
GREY_READOUTS: Strengths = {"brightness": 1.8, "contrast": 1.8, "crop": 0.5, "blur": 2.0}
GREY_HALVES: Strengths = {"brightness": 1.4, "contrast": 1.4, "crop": 0.75, "blur": 1.0}
LAYERS = ("backbone", "projector")

# From training features, training classes, test features and test classes to the accuracy.
Probe = Callable[[Tensor, Tensor, Tensor, Tensor], float]

_CHUNK = 512
_SGD_RATE, _SGD_EPOCHS, _SGD_BATCH = 30.0, 30, 256


def metric_name(layer: str, what: str) -> str:
    """Name a result.

    >>> metric_name("backbone", "hue")
    'backbone: hue [%]'
    """
    return f"{layer}: {what} [%]"


def half(what: str) -> str:
    """Name a readout at half its strength.

    >>> metric_name("backbone", half("hue"))
    'backbone: hue, half as strong [%]'
    """
    return f"{what}, half as strong"


def measure(
    network: Network,
    train: LabelledImages,
    test: LabelledImages,
    *,
    probe: Probe,
    seed: int,
    readouts: Strengths = READOUTS,
    halves: Strengths | None = None,
) -> Metrics:
    """Fit all probes on training images and score them on test images, in per cent.

    Args:
        network: frozen.
        train: images to fit the probes on.
        test: images to score them on.
        probe: the linear classifier.
        seed: decides which images each augmentation is applied to.
        readouts: augmentations by name, each with the strength at which it is read out.
        halves: the same with half of each strength, to be read out as well; None for one without strength.

    Returns:
        Accuracies by layer: classes, each augmentation (chance is 50), and the average of these.

    """
    plain = [embed(network, part.images) for part in (train, test)]
    labels = [torch.as_tensor(part.labels) for part in (train, test)]
    found = {layer: {"classes": _score(probe, plain, labels, layer)} for layer in LAYERS}
    asked = {name: fixed(name, strength) for name, strength in readouts.items()}
    # What has no strength has no half of it.
    halves = halves or {}
    weaker = {half(name): fixed(name, value) for name, value in halves.items() if value is not None}
    asked |= weaker
    for name, change in asked.items():
        shown, applied = zip(
            *(
                apply_to_half(network, part.images, features, change, stream(seed, "readout", name, i))
                for i, (part, features) in enumerate(zip((train, test), plain, strict=True))
            ),
            strict=True,
        )
        for layer in LAYERS:
            found[layer][name] = _score(probe, shown, applied, layer)
    for layer in LAYERS:
        found[layer]["average"] = fmean(found[layer][name] for name in readouts)
        if halves:
            names = (half(name) if half(name) in weaker else name for name in halves)
            found[layer][half("average")] = fmean(found[layer][name] for name in names)
    return {
        metric_name(layer, what): round(100.0 * value, 3)
        for layer, values in found.items()
        for what, value in values.items()
    }


def _score(probe: Probe, features: Any, classes: Any, layer: str) -> float:
    return probe(features[0][layer], classes[0], features[1][layer], classes[1])


@torch.no_grad()
def embed(
    network: Network, images: Any, rows: Tensor | None = None, change: Augmentation | None = None
) -> dict[str, Tensor]:
    """Compute the features of images, by layer.

    Args:
        network: put into its evaluation mode.
        images: uint8 (N, C, H, W), perhaps opened row by row.
        rows: of the images to take; all if omitted.
        change: applied to them first, with the same draws each time, if it draws anything.

    Returns:
        Features (n, k) for each of `LAYERS`, on the CPU.

    """
    network.eval()
    device = next(network.parameters()).device
    rows = torch.arange(len(images)) if rows is None else rows
    found: dict[str, list[Tensor]] = {layer: [] for layer in LAYERS}
    for part in torch.split(rows, _CHUNK):
        pixels = as_pixels(images[part.numpy()]).to(device)
        features = network.features(pixels if change is None else change(pixels, 0).images)
        found["backbone"].append(features.cpu())
        found["projector"].append(network.project(features).cpu())
    return {layer: torch.cat(parts) for layer, parts in found.items()}


def apply_to_half(
    network: Network, images: Any, plain: dict[str, Tensor], change: Augmentation, generator: Generator
) -> tuple[dict[str, Tensor], Tensor]:
    """Show each image once, changed with probability ½.

    Args:
        network: that gives the features.
        images: uint8 (N, C, H, W).
        plain: features of the images as they are.
        change: an augmentation alone, at one strength.
        generator: draws which images are changed.

    Returns:
        Features by layer, and whether each image was changed (N,).

    """
    applied = torch.rand(len(images), generator=generator) < 0.5
    rows = applied.nonzero()[:, 0]
    changed = embed(network, images, rows, change)
    return {layer: plain[layer].index_copy(0, rows, changed[layer]) for layer in LAYERS}, applied


def logistic_probe(train: Tensor, classes: Tensor, test: Tensor, truth: Tensor) -> float:
    """Accuracy of logistic regression on standardised features."""
    return linear_probe_accuracy(train, classes.int(), test, truth.int(), max_iter=300).mean


def sgd_probe(train: Tensor, classes: Tensor, test: Tensor, truth: Tensor) -> float:
    """Accuracy of a linear layer trained as in the paper: momentum .9, a cosine schedule, no weight decay.

    The features are centred, and divided by one number so that their rows have length 1 on average: that
    is the scale that so high a rate is meant for.

    Args:
        train: (N, k).
        classes: (N,).
        test: (M, k).
        truth: (M,).

    Returns:
        Share of test rows that are right.

    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    centre = train.mean(dim=0)
    scale = (train - centre).square().sum(dim=1).mean().sqrt().clamp_min(1e-12)
    train, test = (((part - centre) / scale).to(device) for part in (train, test))
    names, codes = np.unique(torch.cat([classes, truth]).numpy(), return_inverse=True)
    targets = torch.as_tensor(codes).to(device)
    sizes = (train.shape[1], len(names))
    layer: nn.Linear = nn.utils.skip_init(nn.Linear, *sizes, device=device)  # type: ignore[no-untyped-call]
    for parameter in layer.parameters():
        nn.init.zeros_(parameter)
    optimizer = torch.optim.SGD(layer.parameters(), lr=_SGD_RATE, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, _SGD_EPOCHS)
    order = stream(0, "order of the probe")
    for _ in range(_SGD_EPOCHS):
        for rows in torch.split(torch.randperm(len(train), generator=order).to(device), _SGD_BATCH):
            optimizer.zero_grad()
            nn.functional.cross_entropy(layer(train[rows]), targets[rows]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        schedule.step()
    with torch.no_grad():
        return float((layer(test).argmax(dim=1) == targets[len(train) :]).float().mean())
