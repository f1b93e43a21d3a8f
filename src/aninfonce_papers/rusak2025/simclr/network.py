"""Backbone and projector of SimCLR, for one loss on the last layer or for two on different layers."""

from __future__ import annotations

import torch
from torch import Generator, Tensor, nn

from aninfonce.encoders import ResNet, build_head, projector
from aninfonce.extending import fastest_order
from aninfonce_papers.models.quick_resnet import QuickResNet


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
        beside: columns of a second projector, which come before those of the first.
        generator: draws the projector's weights.

    """

    def __init__(
        self,
        backbone: ResNet | QuickResNet,
        *,
        hidden: int,
        dim: int,
        sphere: bool = True,
        levels: bool = False,
        beside: int = 0,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.projector = projector(backbone.out_features, dim, hidden=hidden, generator=generator)
        self.head = build_head("sphere" if sphere else "none", dim)
        self.hidden = hidden if levels else 0
        self.beside = None
        if beside:
            self.beside = projector(backbone.out_features, beside, hidden=hidden, generator=generator)
        self.out_features = self.hidden + beside + dim
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
        """Turn the backbone's features into the last layer, as its loss sees it; of two, into both."""
        last: Tensor = self.head(self.projector(features))
        return last if self.beside is None else torch.cat([self.head(self.beside(features)), last], dim=1)


class LevelsLoss(nn.Module):
    """The sum of one loss on the first columns and another on the rest.

    Args:
        columns: how many are the first.
        below: loss on these.
        top: loss on the rest.

    """

    def __init__(self, columns: int, below: nn.Module, top: nn.Module) -> None:
        super().__init__()
        self.columns = columns
        self.below = below
        self.top = top

    def forward(self, z0: Tensor, z1: Tensor) -> Tensor:
        """Two views, (N, d) each, to a scalar."""
        k = self.columns
        total: Tensor = self.below(z0[:, :k], z1[:, :k]) + self.top(z0[:, k:], z1[:, k:])
        return total


def colours_shared(every: int) -> tuple[tuple[str, ...], ...]:
    """Name what the two views of each kind of pairs share: changes of colour in the last kind, else nothing.

    >>> colours_shared(3)
    ((), (), ('jitter', 'grey'))
    """
    return (*((),) * (every - 1), ("jitter", "grey"))


class BesideLoss(nn.Module):
    """One loss on the first columns of pairs that share their colours, another on the rest of the others.

    Args:
        columns: how many are the first.
        beside: loss on these, for the last of every few pairs.
        top: loss on the rest, for all other pairs.
        every: how many pairs that is; the last one's views share their colours, as `colours_shared` has it.

    """

    def __init__(self, columns: int, beside: nn.Module, top: nn.Module, every: int) -> None:
        super().__init__()
        if every < 2:
            raise ValueError(f"`every` must be at least 2, got {every}")
        self.columns = columns
        self.beside = beside
        self.top = top
        self.every = every

    def forward(self, z0: Tensor, z1: Tensor) -> Tensor:
        """Two views, (N, d) each, to a scalar."""
        shared = torch.arange(len(z0), device=z0.device) % self.every == self.every - 1
        k = self.columns
        beside: Tensor = self.beside(z0[shared, :k], z1[shared, :k])
        top: Tensor = self.top(z0[~shared, k:], z1[~shared, k:])
        return beside + top
