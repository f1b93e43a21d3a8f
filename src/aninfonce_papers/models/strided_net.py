"""A convolutional network for digits that learns much in each second of one core."""

from __future__ import annotations

from itertools import pairwise

from torch import Generator, Tensor, nn

from aninfonce.extending import check_count, check_pictures, convolve, fastest_order, weights_from

_HALVINGS = 3


class StridedNet(nn.Module):
    """Three convolutions that halve the picture, then 128 features of all positions and a linear layer.

    The last maps are not averaged: a half of a 3 differs from one of a 5 by where it is.

    Example:
        >>> import torch
        >>> StridedNet(10, side=28, width=8)(torch.zeros(2, 1, 28, 28)).shape
        torch.Size([2, 10])

    Args:
        out_features: columns of the embedding.
        side: of the pictures, in pixels.
        in_channels: channels of the picture.
        width: channels after the first convolution; twice and four times as many later.
        generator: draws the weights.

    """

    def __init__(
        self,
        out_features: int,
        *,
        side: int,
        in_channels: int = 1,
        width: int = 16,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_channels = check_count(in_channels, "in_channels")
        self.side = check_count(side, "side")
        check_count(width, "width")
        left = side
        for _ in range(_HALVINGS):
            left = (left + 1) // 2
        with weights_from(generator):
            layers: list[nn.Module] = []
            for n_in, n_out in pairwise((in_channels, width, 2 * width, 4 * width)):
                layers += convolve(n_in, n_out, 2)
            layers += [nn.Flatten(), nn.Linear(4 * width * left**2, 128), nn.BatchNorm1d(128), nn.ReLU()]
            layers += [nn.Linear(128, check_count(out_features, "out_features"))]
        self.order = fastest_order(width)
        self.layers = nn.Sequential(*layers).to(memory_format=self.order)  # type: ignore[call-overload]

    def forward(self, x: Tensor) -> Tensor:
        """Embed pictures (N, in_channels, side, side) as (N, out_features)."""
        pictures = check_pictures(x, self.in_channels)
        if tuple(x.shape[2:]) != (self.side, self.side):
            raise ValueError(f"`x` must have pictures of {self.side} × {self.side}, got {tuple(x.shape)}")
        embedding: Tensor = self.layers(pictures.contiguous(memory_format=self.order))
        return embedding
