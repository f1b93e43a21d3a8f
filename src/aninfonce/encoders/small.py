"""A convolutional network for small pictures that a processor can train."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count
from aninfonce.encoders._init import weights_from
from aninfonce.encoders._pictures import check_pictures, convolve, fastest_order

_GRID = 3


class SmallConvNet(nn.Module):
    """Four 3×3 convolutions of stride 2, then 100 features and a linear layer.

    The last maps are kept as a grid of 3 × 3 rather than averaged: where things are is among the latents.

    Example:
        >>> SmallConvNet(10)(torch.zeros(2, 3, 48, 48)).shape
        torch.Size([2, 10])

    Args:
        out_features: columns of the embedding.
        in_channels: channels of the image.
        width: channels after the first convolution; twice and four times as many later.
        generator: draws the weights.

    """

    def __init__(
        self,
        out_features: int,
        *,
        in_channels: int = 3,
        width: int = 32,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_channels = check_count(in_channels, "in_channels")
        self.out_features = check_count(out_features, "out_features")
        check_count(width, "width")
        with weights_from(generator):
            layers: list[nn.Module] = []
            for n_in, n_out in pairwise((in_channels, width, 2 * width, 4 * width, 4 * width)):
                layers += convolve(n_in, n_out, 2)
            layers += [nn.AdaptiveAvgPool2d(_GRID), nn.Flatten()]
            layers += [nn.Linear(4 * width * _GRID**2, 100), nn.LeakyReLU(), nn.Linear(100, out_features)]
        self.order = fastest_order(width)
        self.layers = nn.Sequential(*layers).to(memory_format=self.order)  # type: ignore[call-overload]

    def forward(self, x: Tensor) -> Tensor:
        """Embed images (N, in_channels, H, W) as (N, out_features)."""
        pictures = check_pictures(x, self.in_channels).contiguous(memory_format=self.order)
        embedding: Tensor = self.layers(pictures)
        return embedding
