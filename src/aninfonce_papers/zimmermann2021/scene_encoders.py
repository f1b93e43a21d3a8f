"""Networks of scenes, as parts of an experiment."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from pydantic import Field, PositiveFloat, PositiveInt
from torch import Tensor, nn

from aninfonce.encoders import ProjectedEncoder, ResNet, build_encoder
from aninfonce.extending import stream, weights_from
from aninfonce_papers.engine import Encoder, Part
from aninfonce_papers.engine.precision import Precision


class Standardize(nn.Module):
    """Subtract the mean of each channel and divide by its standard deviation."""

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: Sequence[float], scale: Sequence[float]) -> None:
        super().__init__()
        for name, values in (("mean", mean), ("scale", scale)):
            self.register_buffer(name, torch.tensor(values, dtype=torch.float32).view(1, -1, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Scale pictures (N, C, H, W)."""
        return (x - self.mean) / self.scale


class WideStart(Part):
    """A first training of the network, with more columns than latents, of which directions are then chosen.

    Batches are those of the experiment, with hard negatives to the end, the loss that of SimCLR on the unit
    sphere. Contrast in many columns finds what is hard to see in fewer steps than in as many as there are
    latents. Nothing of it depends on the loss or the space of the experiment: rows that differ in these
    alone share one start.

    Attributes:
        steps: of this training, with the experiment's recipe but for its rates.
        columns: of the embedding.
        temperature: of its loss.
        muon_lr: rate of kernels; the training that follows has a lower one, so as not to undo it.
        adam_lr: rate of all other weights, likewise.
        pictures: of each kind of groups of 16 that the directions are chosen by.

    """

    steps: PositiveInt
    columns: PositiveInt = 128
    temperature: PositiveFloat = 0.1
    muon_lr: PositiveFloat = 0.05
    adam_lr: PositiveFloat = 8e-3
    pictures: PositiveInt = Field(default=2_048, multiple_of=16)


class SceneEncoder(Encoder):
    """A network of pictures.

    Attributes:
        name: "resnet18", or one of the library's by name.
        dim: columns of the embedding.
        width: of the network.
        precision: of its products in training.
        start: a training before that of the experiment; none if omitted.

    """

    name: str
    dim: int
    width: PositiveInt
    precision: Precision = "float32"
    start: WideStart | None = None

    def network(self, inputs: Standardize, seed: int) -> nn.Sequential:
        """Build it, to (N, dim), before its head."""
        generator = stream(seed, "network")
        if self.name != "resnet18":
            network = build_encoder(self.name, out_features=self.dim, width=self.width, generator=generator)
            return nn.Sequential(inputs, network)
        backbone = ResNet(18, width=self.width, generator=generator)
        with weights_from(generator):
            last = nn.Sequential(
                nn.Linear(backbone.out_features, 100), nn.LeakyReLU(), nn.Linear(100, self.dim)
            )
        return nn.Sequential(inputs, ProjectedEncoder(backbone, last))
