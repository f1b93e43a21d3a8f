"""Backbone and projector of SimCLR, for one loss on the last layer or for two on different layers."""

from __future__ import annotations

import torch
from torch import Generator, Tensor, nn

from aninfonce.encoders import ResNet, build_head, projector
from aninfonce.extending import fastest_order, stream
from aninfonce_papers.engine.base import Configuration


class Network(nn.Module):
    """A residual network and a projector linear–ReLU–linear; the output is what the loss sees.

    Example:
        >>> network = Network(ResNet(18, stem="cifar", width=4), hidden=8, dim=6, levels=True)
        >>> network(torch.zeros(2, 3, 16, 16)).shape  # 8 columns of the layer below, 6 of the last one
        torch.Size([2, 14])

    Args:
        backbone: images to features (N, k), with `out_features`.
        hidden: width inside the projector.
        dim: columns of its last layer.
        sphere: bring the last layer to unit length.
        levels: put the projector's first layer, before its ReLU, in front of the last one.
        generator: draws the projector's weights.

    """

    def __init__(
        self,
        backbone: ResNet,
        *,
        hidden: int,
        dim: int,
        sphere: bool = True,
        levels: bool = False,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.projector = projector(backbone.out_features, dim, hidden=hidden, generator=generator)
        self.head = build_head("sphere" if sphere else "none", dim)
        self.hidden = hidden if levels else 0
        self.out_features = self.hidden + dim
        self.order = fastest_order(backbone.width)
        self.to(memory_format=self.order)  # type: ignore[call-overload]

    def forward(self, x: Tensor) -> Tensor:
        """Turn images (N, C, H, W) into all columns that the loss sees."""
        features = self.features(x)
        if not self.hidden:
            return self.project(features)
        below: Tensor = self.projector[0](features)
        top: Tensor = self.head(self.projector[1:](below))
        return torch.cat([below, top], dim=1)

    def features(self, x: Tensor) -> Tensor:
        """Turn images into the backbone's features."""
        features: Tensor = self.backbone(x.contiguous(memory_format=self.order))
        return features

    def project(self, features: Tensor) -> Tensor:
        """Turn the backbone's features into the last layer, as its loss sees it."""
        last: Tensor = self.head(self.projector(features))
        return last


def build_network(configuration: Configuration, channels: int, seed: int) -> Network:
    """Build the network of a cell.

    Args:
        configuration: of the cell, with its `method` and sizes.
        channels: of the images.
        seed: draws the weights.

    Returns:
        The network.

    """
    generator = stream(seed, "network")
    backbone = ResNet(
        configuration["depth"],
        stem=configuration["stem"],
        in_channels=channels,
        width=configuration["width"],
        generator=generator,
    )
    method = configuration["method"]
    return Network(
        backbone,
        hidden=configuration["hidden"],
        dim=embedding_dim(configuration),
        sphere=method != "AnInfoNCE without ℓ2",
        levels=method == "Λ̂ below, InfoNCE on top",
        generator=generator,
    )


def embedding_dim(configuration: Configuration) -> int:
    """Columns of the last layer."""
    dim: int = configuration["dim"]
    return 4 * dim if configuration["method"] == "larger embedding" else dim
