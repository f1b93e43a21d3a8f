"""The loss of each method, and its pairs of views."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from aninfonce.augment import SIMCLR_GROUPS, GroupedViews, ViewSource, simclr
from aninfonce.extending import global_stream
from aninfonce.losses import AlternatingLoss, AnInfoNCE, EnsembleAnInfoNCE, InfoNCE
from aninfonce_papers.engine.base import Configuration
from aninfonce_papers.rusak2025.simclr.network import embedding_dim

PUBLISHED_METHODS = ("InfoNCE", "AnInfoNCE", "AnInfoNCE without ℓ2")
IDEAS = ("Λ̂ below, InfoNCE on top", "a Λ̂ per augmentation group", "β heads", "larger embedding")
UNTRAINED = "untrained"


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


def build_source(configuration: Configuration, images: Any, seed: int, shard: tuple[int, int]) -> ViewSource:
    """Make the stream of pairs of a cell.

    Args:
        configuration: of the cell.
        images: uint8 (N, C, H, W), perhaps opened row by row.
        seed: of order and views.
        shard: (rank, processes).

    Returns:
        The source.

    """
    grouped = configuration["method"] == "a Λ̂ per augmentation group"
    kind = GroupedViews if grouped else ViewSource
    return kind(images, simclr("cifar10"), seed, shard=shard)


def build_loss(configuration: Configuration, seed: int) -> nn.Module:
    """Build the loss of a cell, for embeddings that are on the sphere already where they should be.

    All count negatives as SimCLR does. Λ̂ starts at 1/τ everywhere, which on the sphere is InfoNCE itself.

    Args:
        configuration: of the cell.
        seed: of the weights of β.

    Returns:
        The loss, from two views (N, d) to a scalar.

    """
    method, dim = configuration["method"], embedding_dim(configuration)
    temperature = configuration["temperature"]
    shared: dict[str, Any] = {
        "symmetric": True,
        "candidates": "both",
        "normalize": False,
        "gather_distributed": True,
    }
    paper = configuration["recipe"] == "paper"
    trained = {**shared, "initial": 1 / temperature, "positive_map": "softplus" if paper else "exp"}
    if method == "InfoNCE":
        return InfoNCE(temperature=temperature, **shared)
    if method == "Λ̂ below, InfoNCE on top":
        hidden = configuration["hidden"]
        return LevelsLoss(hidden, AnInfoNCE(hidden, **trained), InfoNCE(temperature=temperature, **shared))
    if method == "a Λ̂ per augmentation group":
        return AlternatingLoss(EnsembleAnInfoNCE(dim, len(SIMCLR_GROUPS), **trained))
    with global_stream(seed, "weights of β"):
        return AnInfoNCE(dim, potential=method == "β heads", **trained)
