"""What an augmentation is: parameters drawn from a given generator, and what they do to images.

Drawing and applying are separate, so that what was done to each image is known and can be repeated. kornia
changes the pixels; its own random layers are not used, since they draw from torch's global state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from aninfonce._seeds import stream
from aninfonce._validation import check_number, describe
from aninfonce.datasets.tensors import pixel_tensor

Parameters = dict[str, Tensor]


@dataclass(frozen=True)
class Augmented:
    """Images after an augmentation.

    Attributes:
        images: float32 (N, C, H, W) from 0 to 1.
        parameters: by name, what was drawn for each image (N, ...).

    """

    images: Tensor
    parameters: Parameters


class Augmentation(ABC):
    """A change of images with random parameters.

    Args:
        p: probability that an image is changed at all.

    """

    name: str
    colour = False

    def __init__(self, p: float = 1.0) -> None:
        self.p = check_number(p, "p", minimum=0)
        if self.p > 1:
            raise ValueError(f"`p` must be at most 1, got {self.p:g}")

    def __call__(self, images: Any, generator: Generator | int) -> Augmented:
        """Change images.

        Args:
            images: uint8, or floats from 0 to 1, (N, C, H, W).
            generator: draws the parameters; a number seeds a new one. The global state is left alone.

        Returns:
            The changed images and the parameters drawn for each.

        """
        images = as_pixels(images)
        if isinstance(generator, int):
            generator = stream(generator, "augmentation")
        parameters = self.draw(tuple(images.shape), generator)
        return Augmented(self.apply(images, parameters), parameters)

    def draw(self, shape: tuple[int, ...], generator: Generator) -> Parameters:
        """Draw parameters for images of `shape` (N, C, H, W): tensors (N, ...) on the CPU."""
        if self.colour and shape[1] != 3:
            raise ValueError(f"`images` must have 3 channels for {self.name!r}, got {shape[1]}")
        drawn = {f"{self.name}.applied": torch.rand(shape[0], generator=generator) < self.p}
        for what, values in self._draw(shape, generator).items():
            drawn[f"{self.name}.{what}"] = values
        return drawn

    def apply(self, images: Tensor, parameters: Parameters) -> Tensor:
        """Change float images (N, C, H, W) by given parameters; those not applied stay as they are."""
        rows = parameters[f"{self.name}.applied"].nonzero()[:, 0]
        if not len(rows):
            return images
        prefix = f"{self.name}."
        own = {
            key.removeprefix(prefix): values[rows].to(images.device)
            for key, values in parameters.items()
            if key.startswith(prefix)
        }
        if len(rows) == len(images):
            return self._apply(images, own)
        return images.index_copy(0, rows.to(images.device), self._apply(images[rows], own))

    def _draw(self, shape: tuple[int, ...], generator: Generator) -> Parameters:
        """Draw what is particular to this augmentation, (N, ...) each; nothing if only `p` is random."""
        return {}

    @abstractmethod
    def _apply(self, images: Tensor, own: Parameters) -> Tensor:
        """Change all of the given images."""


class Compose(Augmentation):
    """Augmentations one after another.

    Example:
        >>> from aninfonce.augment import Blur, Flip
        >>> both = Compose([Flip(p=0.5), Blur()])
        >>> sorted(both(torch.rand(4, 1, 8, 8), 0).parameters)
        ['blur.applied', 'blur.sigma', 'flip.applied']

    Args:
        steps: augmentations with different names.

    """

    name = "compose"

    def __init__(self, steps: Sequence[Augmentation]) -> None:
        super().__init__()
        names = [step.name for step in steps]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"`steps` must be augmentations of different names, got {names}")
        self.steps = tuple(steps)

    def draw(self, shape: tuple[int, ...], generator: Generator) -> Parameters:
        """Draw the parameters of all steps."""
        drawn: Parameters = {}
        for step in self.steps:
            drawn |= step.draw(shape, generator)
        return drawn

    def apply(self, images: Tensor, parameters: Parameters) -> Tensor:
        """Change images by all steps."""
        for step in self.steps:
            images = step.apply(images, parameters)
        return images

    def _apply(self, images: Tensor, own: Parameters) -> Tensor:
        raise NotImplementedError


def seeded(augmentation: Augmentation, seed: int = 0) -> Callable[[Any], Tensor]:
    """Make a plain function from images to changed images, as `diagnostics.audit` takes it.

    Args:
        augmentation: to apply.
        seed: of its parameters, the same at each call.

    Returns:
        The function, from (N, C, H, W) to float32 of that shape.

    """
    return lambda images: augmentation(images, seed).images


def as_pixels(images: Any) -> Tensor:
    """Read images (N, C, H, W), bytes or floats from 0 to 1, as float32."""
    shape = tuple(getattr(images, "shape", ()))
    if len(shape) != 4 or shape[1] not in (1, 3):
        raise ValueError(f"`images` must have shape (N, 1 or 3, H, W), got {describe(images)}")
    return pixel_tensor(images)


def kornia() -> Any:
    """Import kornia when the first image is changed, or say how to install it."""
    try:
        import kornia
    except ImportError:
        raise ValueError("augmentations need kornia: pip install 'aninfonce[images]'") from None
    return kornia


def check_range(value: tuple[float, float], name: str, minimum: float = 0.0) -> tuple[float, float]:
    """Require two numbers in order, above a minimum."""
    low, high = (check_number(bound, name, minimum=minimum) for bound in value)
    if low > high:
        raise ValueError(f"`{name}` must be (smallest, largest), got ({low:g}, {high:g})")
    return low, high


def uniform(n: int, between: tuple[float, float], generator: Generator) -> Tensor:
    """Draw (n,) numbers between two bounds."""
    return between[0] + (between[1] - between[0]) * torch.rand(n, generator=generator)
