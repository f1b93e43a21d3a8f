"""A residual network for small pictures that learns much in each second of one core."""

from __future__ import annotations

from torch import Generator, Tensor, nn

from aninfonce.extending import check_count, check_pictures, convolve, weights_from


class QuickResNet(nn.Module):
    """A stem that halves the picture, then three stages of one residual block each; no classifier.

    Each stage has twice the channels and half the side of the one before it.

    Example:
        >>> import torch
        >>> QuickResNet(width=8)(torch.zeros(2, 3, 32, 32)).shape
        torch.Size([2, 32])

    Args:
        in_channels: channels of the image.
        width: channels of the first stage.
        features: columns of the result, by a last convolution of single pixels, which costs little; the
            channels of the last stage, four times the width, if omitted.
        generator: draws the weights.

    """

    def __init__(
        self,
        *,
        in_channels: int = 3,
        width: int = 32,
        features: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_channels = check_count(in_channels, "in_channels")
        self.width = check_count(width, "width")
        self.out_features = 4 * width if features is None else check_count(features, "features")
        with weights_from(generator):
            self.layers = nn.Sequential(
                nn.Sequential(*convolve(in_channels, width, 2, 4)),
                _Residual(width),
                nn.Sequential(*convolve(width, 2 * width, 2)),
                _Residual(2 * width),
                nn.Sequential(*convolve(2 * width, 4 * width, 2)),
                _Residual(4 * width),
            )
            if features is not None:
                self.layers.append(nn.Sequential(*convolve(4 * width, features, 1, 1)))

    def forward(self, x: Tensor) -> Tensor:
        """Turn images (N, in_channels, H, W) into features (N, out_features), averaged over positions."""
        features: Tensor = self.layers(check_pictures(x, self.in_channels))
        return features.mean(dim=(2, 3))


class _Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.block = nn.Sequential(*(nn.Sequential(*convolve(width, width, 1)) for _ in range(2)))

    def forward(self, x: Tensor) -> Tensor:
        residual: Tensor = self.block(x)
        return x + residual
