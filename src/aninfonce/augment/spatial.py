"""Augmentations that move pixels or blur them: crop, flip, blur."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from aninfonce._validation import check_count
from aninfonce.augment.base import Augmentation, Parameters, check_range, kornia, uniform

_TRIES = 10


class Crop(Augmentation):
    """A random part of the image, scaled back to its size or to another.

    Example:
        >>> half = Crop(area=(0.5, 0.5), ratio=(1.0, 1.0))
        >>> half(torch.rand(2, 1, 28, 28), 0).parameters["crop.box"][:, 2:].tolist()
        [[20, 20], [20, 20]]
        >>> Crop(size=24)(torch.rand(2, 1, 28, 28), 0).images.shape
        torch.Size([2, 1, 24, 24])

    Args:
        area: smallest and largest share of the image's area.
        ratio: narrowest and widest, width by height, drawn evenly in its logarithm.
        p: probability that an image is cropped.
        size: pixels on a side of the result; those of the image if omitted. Needs `p` = 1, since images of
            one batch have one size.

    The parameter `crop.box` is (N, 4): left, top, width and height in pixels.

    """

    name = "crop"

    def __init__(
        self,
        area: tuple[float, float] = (0.2, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        p: float = 1.0,
        size: int | None = None,
    ) -> None:
        super().__init__(p)
        self.size = None if size is None else check_count(size, "size")
        if size is not None and self.p < 1:
            raise ValueError(f"`size` goes with `p` = 1, got {self.p:g}")
        self.area = check_range(area, "area", 0.01)
        self.ratio = check_range(ratio, "ratio", 0.01)
        if self.area[1] > 1:
            raise ValueError(f"`area` must be at most 1, got {self.area[1]:g}")

    def _draw(self, shape: tuple[int, ...], generator: Generator) -> Parameters:
        n, _, height, width = shape
        bounds = math.log(self.ratio[0]), math.log(self.ratio[1])
        area = uniform(n * _TRIES, self.area, generator).view(n, _TRIES) * height * width
        ratio = uniform(n * _TRIES, bounds, generator).view(n, _TRIES).exp()
        wide, high = ((area * ratio).sqrt().round(), (area / ratio).sqrt().round())
        # The first of several tries that fits into the image; if none does, the first, cut to it.
        first = ((wide <= width) & (high <= height)).int().argmax(dim=1, keepdim=True)
        # Not below 2: a part of one pixel has no extent to scale.
        wide = wide.gather(1, first)[:, 0].clamp(2, width)
        high = high.gather(1, first)[:, 0].clamp(2, height)
        left = (torch.rand(n, generator=generator) * (width - wide + 1)).floor()
        top = (torch.rand(n, generator=generator) * (height - high + 1)).floor()
        return {"box": torch.stack([left, top, wide, high], dim=1).long()}

    def _apply(self, images: Tensor, own: Parameters) -> Tensor:
        left, top, wide, high = own["box"].to(images.dtype).unbind(dim=1)
        right, bottom = left + wide - 1, top + high - 1
        corners = torch.stack([left, top, right, top, right, bottom, left, bottom], dim=1).view(-1, 4, 2)
        size = (images.shape[2], images.shape[3]) if self.size is None else (self.size, self.size)
        cropped: Tensor = kornia().geometry.transform.crop_and_resize(
            images, corners, size, padding_mode="border"
        )
        return cropped.clamp(0, 1)


class Flip(Augmentation):
    """Left and right exchanged.

    Example:
        >>> Flip()(torch.tensor([[[[0.0, 1.0]]]]), 0).images
        tensor([[[[1., 0.]]]])

    Args:
        p: probability that an image is flipped.

    """

    name = "flip"

    def _apply(self, images: Tensor, own: Parameters) -> Tensor:
        flipped: Tensor = kornia().geometry.transform.hflip(images)
        return flipped


class Blur(Augmentation):
    """A Gaussian blur.

    Example:
        >>> dot = torch.zeros(1, 1, 9, 9)
        >>> dot[0, 0, 4, 4] = 1
        >>> bool(Blur(sigma=(1.0, 1.0))(dot, 0).images[0, 0, 4, 4] < 0.3)
        True

    Args:
        sigma: smallest and largest width in pixels.
        kernel: odd number of pixels that the blur reaches; a tenth of the image's height, as in SimCLR and
            not below 3, if omitted.
        p: probability that an image is blurred.

    """

    name = "blur"

    def __init__(
        self, sigma: tuple[float, float] = (0.1, 2.0), kernel: int | None = None, p: float = 1.0
    ) -> None:
        super().__init__(p)
        self.sigma = check_range(sigma, "sigma", 0.01)
        self.kernel = kernel
        if kernel is not None and check_count(kernel, "kernel") % 2 == 0:
            raise ValueError(f"`kernel` must be odd, got {kernel}")

    def _draw(self, shape: tuple[int, ...], generator: Generator) -> Parameters:
        return {"sigma": uniform(shape[0], self.sigma, generator)}

    def _apply(self, images: Tensor, own: Parameters) -> Tensor:
        side = self.kernel or max(3, images.shape[2] // 10 // 2 * 2 + 1)
        sigma = own["sigma"][:, None].expand(-1, 2)
        blurred: Tensor = kornia().filters.gaussian_blur2d(images, (side, side), sigma)
        return blurred
