"""Augmentations of colour: grey, brightness, contrast, saturation, hue, and the four together."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from aninfonce._validation import check_number
from aninfonce.augment.base import Augmentation, Parameters, check_range, kornia, uniform


class Grey(Augmentation):
    """Colour taken away, three equal channels left.

    Example:
        >>> Grey()(torch.tensor([1.0, 0.0, 0.0]).view(1, 3, 1, 1), 0).images.flatten()
        tensor([0.2990, 0.2990, 0.2990])

    Args:
        p: probability that an image turns grey.

    """

    name = "grey"
    colour = True

    def _apply(self, images: Tensor, own: Parameters) -> Tensor:
        grey: Tensor = kornia().color.rgb_to_grayscale(images)
        return grey.expand_as(images)


class _Factor(Augmentation):
    """One number for each image."""

    neutral = 1.0

    def __init__(self, factor: tuple[float, float], p: float = 1.0) -> None:
        super().__init__(p)
        self.factor = check_range(factor, "factor", -0.5 if self.neutral == 0 else 0.0)

    def _draw(self, shape: tuple[int, ...], generator: Generator) -> Parameters:
        return {"factor": uniform(shape[0], self.factor, generator)}

    def _apply(self, images: Tensor, own: Parameters) -> Tensor:
        return _changed(self.name, images, own["factor"])


class Brightness(_Factor):
    """All pixels times a factor.

    Example:
        >>> Brightness((2.0, 2.0))(torch.full((1, 1, 1, 2), 0.25), 0).images
        tensor([[[[0.5000, 0.5000]]]])

    Args:
        factor: smallest and largest; 1 changes nothing.
        p: probability that an image is changed.

    """

    name = "brightness"


class Contrast(_Factor):
    """Distance from the image's mean grey times a factor; arguments as for `Brightness`."""

    name = "contrast"


class Saturation(_Factor):
    """Distance from the pixel's own grey times a factor; arguments as for `Brightness`."""

    name = "saturation"
    colour = True


class Hue(_Factor):
    """All hues turned; `factor` is in turns from −½ to ½, and 0 changes nothing."""

    name = "hue"
    colour = True
    neutral = 0.0


class Jitter(Augmentation):
    """Brightness, contrast, saturation and hue, in an order of its own for each image.

    Example:
        >>> drawn = Jitter()(torch.rand(2, 3, 8, 8), 0).parameters
        >>> sorted(drawn)
        ['jitter.applied', 'jitter.brightness', 'jitter.contrast', 'jitter.hue', ..., 'jitter.saturation']

    Args:
        brightness: b, for factors from 1 − b (not below 0) to 1 + b.
        contrast: likewise.
        saturation: likewise.
        hue: h, for turns from −h to h.
        p: probability that an image is changed.

    The parameter `jitter.order` (N, 4) says which came first: 0 brightness, 1 contrast, 2 saturation, 3 hue.

    """

    name = "jitter"
    colour = True

    def __init__(
        self,
        brightness: float = 0.8,
        contrast: float = 0.8,
        saturation: float = 0.8,
        hue: float = 0.2,
        p: float = 1.0,
    ) -> None:
        super().__init__(p)
        named = {"brightness": brightness, "contrast": contrast, "saturation": saturation}
        self.ranges = {
            name: (max(0.0, 1 - check_number(value, name, minimum=0)), 1 + value)
            for name, value in named.items()
        }
        if check_number(hue, "hue", minimum=0) > 0.5:
            raise ValueError(f"`hue` must be at most 0.5 turns, got {hue:g}")
        self.ranges["hue"] = (-hue, hue)

    def _draw(self, shape: tuple[int, ...], generator: Generator) -> Parameters:
        drawn = {name: uniform(shape[0], between, generator) for name, between in self.ranges.items()}
        drawn["order"] = torch.rand(shape[0], len(drawn), generator=generator).argsort(dim=1)
        return drawn

    def _apply(self, images: Tensor, own: Parameters) -> Tensor:
        # Each place in the order meets each change on about a quarter of the images: no work is wasted.
        for place in own["order"].unbind(dim=1):
            for number, name in enumerate(self.ranges):
                rows = (place == number).nonzero()[:, 0]
                if len(rows):
                    images = images.index_copy(0, rows, _changed(name, images[rows], own[name][rows]))
        return images


# By name: which of kornia's changes, and how many of its units are one of ours (hues are turned by radians).
_CHANGES = {
    "brightness": ("adjust_brightness_accumulative", 1.0),
    "contrast": ("adjust_contrast_with_mean_subtraction", 1.0),
    "saturation": ("adjust_saturation_with_gray_subtraction", 1.0),
    "hue": ("adjust_hue", 2 * math.pi),
}


def _changed(name: str, images: Tensor, factor: Tensor) -> Tensor:
    function, unit = _CHANGES[name]
    changed: Tensor = getattr(kornia().enhance, function)(images, unit * factor)
    return changed.clamp(0, 1)
