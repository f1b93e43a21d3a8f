"""The convolutional network of the KITTI Masks experiments."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count
from aninfonce.encoders._init import weights_from


class KittiConvNet(nn.Module):
    """Five convolutions from a 64×64 image to 256 features, then a linear layer.

    Four convolutions (4×4, stride 2) to 32, 32, 64 and 64 channels, one (4×4) to 256, ReLU after each.
    Kaiming-normal weights, zero biases.

    Example:
        >>> KittiConvNet()(torch.zeros(2, 1, 64, 64)).shape
        torch.Size([2, 10])

    Args:
        out_features: columns of the embedding.
        in_channels: channels of the image.
        generator: draws the weights.

    """

    def __init__(
        self,
        out_features: int = 10,
        *,
        in_channels: int = 1,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_channels = check_count(in_channels, "in_channels")
        self.out_features = check_count(out_features, "out_features")
        with weights_from(generator):
            layers: list[nn.Module] = []
            for n_in, n_out in pairwise((in_channels, 32, 32, 64, 64)):
                layers += [nn.Conv2d(n_in, n_out, 4, stride=2, padding=1), nn.ReLU()]
            layers += [nn.Conv2d(64, 256, 4), nn.ReLU(), nn.Flatten(), nn.Linear(256, out_features)]
            for layer in layers:
                if isinstance(layer, nn.Conv2d | nn.Linear):
                    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
                    assert layer.bias is not None
                    nn.init.zeros_(layer.bias)
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """Embed images (N, in_channels, 64, 64) as (N, out_features)."""
        if x.ndim != 4 or x.shape[1:] != (self.in_channels, 64, 64):
            raise ValueError(f"`x` must have shape (N, {self.in_channels}, 64, 64), got {tuple(x.shape)}")
        embedding: Tensor = self.layers(x)
        return embedding
