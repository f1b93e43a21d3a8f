"""A residual network for small pictures that learns much in each second of one core."""

from __future__ import annotations

from torch import Generator, Tensor, nn

from aninfonce.extending import check_count, describe, weights_from


class QuickResNet(nn.Module):
    """A stem that halves the picture, then three stages of one residual block each; no classifier.

    Each stage has twice the channels and half the side of the one before it.

    Example:
        >>> import torch
        >>> QuickResNet(width=8)(torch.zeros(2, 3, 32, 32)).shape
        torch.Size([2, 32])

    Args:
        in_channels: channels of the image.
        width: channels of the first stage; there are four times as many features.
        generator: draws the weights.

    """

    def __init__(self, *, in_channels: int = 3, width: int = 32, generator: Generator | None = None) -> None:
        super().__init__()
        self.in_channels = check_count(in_channels, "in_channels")
        self.width = check_count(width, "width")
        self.out_features = 4 * width
        with weights_from(generator):
            self.layers = nn.Sequential(
                _convolve(in_channels, width, 4, 2),
                _Residual(width),
                _convolve(width, 2 * width, 3, 2),
                _Residual(2 * width),
                _convolve(2 * width, 4 * width, 3, 2),
                _Residual(4 * width),
            )

    def forward(self, x: Tensor) -> Tensor:
        """Turn images (N, in_channels, H, W) into features (N, out_features), averaged over positions."""
        if x.ndim != 4 or x.shape[1] != self.in_channels:
            raise ValueError(f"`x` must have shape (N, {self.in_channels}, H, W), got {describe(x)}")
        features: Tensor = self.layers(x)
        return features.mean(dim=(2, 3))


class _Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.block = nn.Sequential(_convolve(width, width, 3, 1), _convolve(width, width, 3, 1))

    def forward(self, x: Tensor) -> Tensor:
        residual: Tensor = self.block(x)
        return x + residual


def _convolve(n_in: int, n_out: int, side: int, stride: int) -> nn.Sequential:
    convolution = nn.Conv2d(n_in, n_out, side, stride=stride, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(n_out), nn.ReLU(inplace=True))
