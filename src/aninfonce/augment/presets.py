"""The augmentations of the papers by name, and each alone at one strength."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from aninfonce._validation import check_choice
from aninfonce.augment.base import Augmentation, Compose
from aninfonce.augment.colour import Brightness, Contrast, Grey, Hue, Jitter, Saturation
from aninfonce.augment.spatial import Blur, Crop, Flip

# With a middling strength: the middle of what SimCLR draws, and half of its largest changes of colour.
_WITH_STRENGTH: dict[str, tuple[Callable[[tuple[float, float]], Augmentation], float]] = {
    "crop": (partial(Crop, ratio=(1.0, 1.0)), 0.6),
    "brightness": (Brightness, 1.4),
    "contrast": (Contrast, 1.4),
    "saturation": (Saturation, 1.4),
    "hue": (Hue, 0.1),
    "blur": (Blur, 1.0),
}
_COLOURED = ("grey", "hue", "saturation")
NAMES = ("crop", "flip", "grey", "brightness", "contrast", "hue", "saturation", "blur")


def simclr(kind: str = "cifar10", *, size: int | None = None) -> Compose:
    """Build the augmentations of SimCLR as the papers use them.

    Example:
        >>> [step.name for step in simclr("mnist").steps]
        ['crop', 'flip', 'blur']

    Args:
        kind: "mnist" (no colour; also for Fashion-MNIST and other grey images) or "cifar10" (also for
            photographs of other sizes).
        size: pixels on a side of the views; those of the images if omitted. Smaller views take less time,
            and a network of convolutions sees whole images at their own size afterwards.

    Returns:
        The augmentation: crop of 20–100 % of the area, flip with probability .5, jitter (.8, .8, .8, .2) with
        .8, grey with .2, blur with .5.

    References:
        Chen et al., "A Simple Framework for Contrastive Learning of Visual Representations", 2020.
        Rusak et al., "InfoNCE: Identifying the Gap Between Theory and Practice", 2025.

    """
    check_choice(kind, "kind", ("mnist", "cifar10"))
    moved: list[Augmentation] = [Crop(size=size), Flip(p=0.5)]
    coloured: list[Augmentation] = [Jitter(0.8, 0.8, 0.8, 0.2, p=0.8), Grey(p=0.2)]
    return Compose([*moved, *(coloured if kind == "cifar10" else []), Blur(p=0.5)])


def fixed(name: str, strength: float | None = None) -> Augmentation:
    """Build one augmentation alone, at one strength, applied to every image; only a crop's place is random.

    Example:
        >>> import torch
        >>> fixed("hue")(torch.rand(2, 3, 8, 8), 0).parameters["hue.factor"]
        tensor([0.1000, 0.1000])

    Args:
        name: "crop", "flip", "grey", "brightness", "contrast", "hue", "saturation" or "blur".
        strength: of a crop the share of the area that is left; of brightness, contrast and saturation the
            factor; of hue the turns; of blur its width in pixels. Flip and grey have none. A middling one
            if omitted.

    """
    check_choice(name, "name", NAMES)
    if name not in _WITH_STRENGTH:
        if strength is not None:
            raise ValueError(f"`strength` must be omitted for {name!r}, got {strength:g}")
        return Flip() if name == "flip" else Grey()
    build, middling = _WITH_STRENGTH[name]
    value = middling if strength is None else strength
    return build((value, value))


def readouts(channels: int) -> dict[str, Augmentation]:
    """Build every augmentation that suits images with this many channels, each at a middling strength.

    Example:
        >>> list(readouts(1))
        ['crop', 'flip', 'brightness', 'contrast', 'blur']

    Args:
        channels: 1 for grey, 3 for colour.

    """
    if channels not in (1, 3):
        raise ValueError(f"`channels` must be 1 or 3, got {channels}")
    return {name: fixed(name) for name in NAMES if channels == 3 or name not in _COLOURED}
