"""Multilayer perceptrons: a fast default, and the one of both papers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count, check_number
from aninfonce.encoders._init import weights_from


class MLP(nn.Module):
    """Linear layers with LeakyReLU between them.

    The defaults (three hidden layers of 128, slope 0.2) are small enough for a CPU; the slope is that of
    the generators it has to invert.

    Example:
        >>> encoder = MLP(10, 3, generator=torch.Generator().manual_seed(0))
        >>> encoder(torch.randn(4, 10)).shape
        torch.Size([4, 3])

    Args:
        in_features: columns of the input.
        out_features: columns of the embedding.
        width: units in each hidden layer.
        depth: number of hidden layers; 0 is a linear map.
        hidden: sizes of the hidden layers one by one, in place of `width` and `depth`.
        slope: of LeakyReLU on the negative side.
        skip: let the last layer see the inputs beside the last hidden layer, so that what is linear need not
            be learned by the layers between.
        generator: draws the weights (torch's default initialisation).

    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        width: int = 128,
        depth: int = 3,
        hidden: Sequence[int] | None = None,
        slope: float = 0.2,
        skip: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features = check_count(in_features, "in_features")
        self.out_features = check_count(out_features, "out_features")
        check_number(slope, "slope", minimum=0.0)
        if hidden is None:
            hidden = (check_count(width, "width"),) * check_count(depth, "depth", minimum=0)
        elif isinstance(hidden, int):
            raise ValueError(f"`hidden` must be a width for each layer, such as (128, 128), got {hidden}")
        sizes = [in_features, *(check_count(size, "hidden") for size in hidden)]
        self.skip = bool(skip) and len(sizes) > 1
        layers: list[nn.Module] = []
        with weights_from(generator):
            for n_in, n_out in pairwise(sizes):
                layers += [nn.Linear(n_in, n_out), nn.LeakyReLU(slope)]
            seen = sizes[-1] + in_features if self.skip else sizes[-1]
            layers.append(nn.Linear(seen, out_features))
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """Embed observations (N, in_features) as (N, out_features)."""
        if x.ndim != 2 or x.shape[1] != self.in_features:
            raise ValueError(f"`x` must have shape (N, {self.in_features}), got {tuple(x.shape)}")
        if self.skip:
            hidden = self.layers[:-1](x)
            embedding: Tensor = self.layers[-1](torch.cat([x, hidden], dim=1))
        else:
            embedding = self.layers(x)
        return embedding


def paper_mlp(
    in_features: int,
    out_features: int,
    *,
    slope: float = 0.01,
    generator: torch.Generator | None = None,
) -> MLP:
    """Build the encoder of both papers' synthetic experiments: n–10n–50n–50n–50n–50n–10n–n for n inputs.

    Example:
        >>> encoder = paper_mlp(10, 10)
        >>> [layer.out_features for layer in encoder.layers if isinstance(layer, nn.Linear)]
        [100, 500, 500, 500, 500, 100, 10]

    Args:
        in_features: n, columns of the input.
        out_features: columns of the embedding.
        slope: of LeakyReLU on the negative side.
        generator: draws the weights (torch's default initialisation).

    """
    n = check_count(in_features, "in_features")
    hidden = (10 * n, 50 * n, 50 * n, 50 * n, 50 * n, 10 * n)
    return MLP(in_features, out_features, hidden=hidden, slope=slope, generator=generator)
