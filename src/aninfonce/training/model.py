"""What a configuration trains: the encoder and the loss that its settings name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Generator, Tensor, nn

from aninfonce.encoders import build_encoder, build_head
from aninfonce.encoders._init import weights_from
from aninfonce.encoders.embedding import Embedding
from aninfonce.losses import (
    AlternatingLoss,
    AnInfoNCE,
    EnsembleAnInfoNCE,
    InfoNCE,
    LinearDynamics,
    LpInfoNCE,
    NTXent,
)
from aninfonce.training.config import EncoderSettings, LossSettings, TrainingConfig

# "auto" gets the sphere's head when it has chosen the sphere, and none before.
_HEADS = {
    "auto": "sphere",
    "flat": "none",
    "sphere": "sphere",
    "learnable-sphere": "learnable-sphere",
    "box": "box",
    "unbounded": "none",
}


class EncoderWithLoss(nn.Module):
    """Encoder and loss as one module, so that one backward pass covers both on every process."""

    def __init__(self, encoder: Embedding, loss: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.loss = loss

    def forward(self, x: Tensor, x_pos: Tensor, x_neg: Tensor | None = None) -> Tensor:
        """Loss of a batch of pairs; NaN, rather than an error, if the embedding is not finite."""
        views = [x, x_pos] if x_neg is None else [x, x_pos, x_neg.flatten(0, 1)]
        z, z_pos, *rest = self.encoder(torch.cat(views)).split([len(view) for view in views])
        if not bool(torch.isfinite(z.detach().sum() + z_pos.detach().sum())):
            return torch.full((), torch.nan, device=z.device, requires_grad=True)
        if x_neg is None:
            value: Tensor = self.loss(z, z_pos)
        else:
            value = self.loss(z, z_pos, rest[0].view(*x_neg.shape[:2], -1))
        return value


def build_embedding(
    config: TrainingConfig, generator: Generator, encoder: nn.Module | None = None
) -> Embedding:
    """Build the encoder of a configuration (or take a given one) with the head of its space."""
    assert config.dim is not None
    if encoder is None:
        if config.encoder.name == "custom":
            raise ValueError("this run's encoder is a module of your own: pass it as `encoder`")
        # One that was registered may not look at the generator it is given.
        with weights_from(generator):
            encoder = build_encoder(config.encoder.name, **config.encoder.options, generator=generator)
    head = build_head(_HEADS[config.space], config.dim)
    return Embedding(encoder, head, dropout=config.recipe.input_dropout)


def complete_encoder(settings: EncoderSettings, x: Tensor, dim: int) -> EncoderSettings:
    """Fill in the sizes of input and output that the data decide."""
    size = {"in_features": x.shape[1]} if x.ndim == 2 else {"in_channels": x.shape[1]}
    for name in ("head", "generator", "out_features"):
        if name in settings.options and settings.options[name] != dim:
            raise ValueError(
                f"`encoder.options` must leave out {name!r}: `space`, `seed` and `dim` decide it"
            )
    return settings.model_copy(update={"options": {**size, **settings.options, "out_features": dim}})


def build_loss(settings: LossSettings, dim: int, generator: Generator) -> nn.Module:
    """Build a loss for embeddings whose head has already put them where they live.

    Args:
        settings: its name and options.
        dim: d, columns of the embedding.
        generator: draws the weights of a loss that has some, such as a candidate potential.

    Returns:
        The loss.

    """
    options: dict[str, Any] = {"normalize": False, "gather_distributed": True, **settings.options}
    if isinstance(options.get("initial"), Sequence):
        options["initial"] = torch.tensor(options["initial"])
    with weights_from(generator):
        if settings.name == "aninfonce":
            kinds = options.pop("kinds", 1)
            if kinds > 1:
                return AlternatingLoss(EnsembleAnInfoNCE(dim, kinds, **options))
            return AnInfoNCE(dim, **options)
        if settings.name == "infonce":
            return InfoNCE(**options)
        if settings.name == "lp":
            return LpInfoNCE(**options)
        if settings.name == "linear-dynamics":
            return LinearDynamics(dim, **options)
        if settings.name == "nt-xent":
            return NTXent(**{k: v for k, v in options.items() if k != "normalize"})
    raise ValueError("this run's loss is a module of your own: pass it as `loss`")
