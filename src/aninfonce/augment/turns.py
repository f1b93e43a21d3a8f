"""Turns of images by quarters, and pairs of views that are never turned alike."""

from __future__ import annotations

from typing import Any

import torch
from torch import Generator, Tensor

from aninfonce.augment.base import Augmentation, Parameters
from aninfonce.augment.views import ViewSource


class Turn(Augmentation):
    """A turn by a random multiple of 90°.

    Example:
        >>> turned = Turn()(torch.rand(5, 1, 8, 8), 0)
        >>> turned.parameters["turn.quarters"]
        tensor([0, 2, 0, 3, 2])

    Args:
        p: probability that an image is turned at all.

    """

    name = "turn"

    def _draw(self, shape: tuple[int, ...], generator: Generator) -> Parameters:
        if shape[2] != shape[3]:
            raise ValueError(f"`images` must be square to be turned, got {shape[2]} × {shape[3]}")
        return {"quarters": torch.randint(4, (shape[0],), generator=generator)}

    def _apply(self, images: Tensor, own: Parameters) -> Tensor:
        turned = images.clone()
        for quarters in range(1, 4):
            rows = own["quarters"] == quarters
            turned[rows] = images[rows].rot90(quarters, (2, 3))
        return turned


class TurnedViews(ViewSource):
    """Two views of each image, turned by different multiples of 90°.

    Args:
        images: as `ViewSource` takes them, square.
        seed: of the order and of the turns.

    """

    def __init__(self, images: Any, seed: int = 0) -> None:
        super().__init__(images, Turn(), seed)

    def draw(self, n: int, generator: Generator) -> tuple[Parameters, Parameters]:
        """Draw the turns of the first views, and others for the second ones."""
        first = self.augmentation.draw((n, *self.images.shape[1:]), generator)
        further = 1 + torch.randint(3, (n,), generator=generator)
        return first, {**first, "turn.quarters": (first["turn.quarters"] + further) % 4}
