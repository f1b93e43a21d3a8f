"""What a configuration trains: settings completed by the data, and the encoder and loss that they name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Generator, Tensor, nn

from aninfonce.encoders import build_encoder, build_head
from aninfonce.encoders._init import weights_from
from aninfonce.encoders.embedding import Embedding, embed_in_chunks
from aninfonce.losses import (
    AlternatingLoss,
    AnInfoNCE,
    EnsembleAnInfoNCE,
    InfoNCE,
    LinearDynamics,
    LpInfoNCE,
    NTXent,
)
from aninfonce.processes import PairBatch
from aninfonce.recipe import Recipe
from aninfonce.similarities import PerAnchor
from aninfonce.sources.base import PairSource
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


def check_batches(source: PairSource, recipe: Recipe) -> None:
    """Refuse a batch size that the source cannot provide, before the run rather than in the middle of it."""
    largest = recipe.largest_batch
    if source.largest_batch is not None and largest > source.largest_batch:
        raise ValueError(
            f"`recipe.batch_size` and `recipe.growth` must be at most {source.largest_batch}, the number of"
            f" pairs at hand, got {largest}"
        )


def complete_config(
    config: TrainingConfig,
    process: Any,
    pairs: PairBatch,
    encoder: nn.Module | None,
    loss: nn.Module | None,
) -> TrainingConfig:
    """Fill in what the data and the given modules decide."""
    dim = config.dim or (None if process is None else process.dim)
    if dim is None and encoder is not None:
        dim = embed_in_chunks(encoder, pairs.x[:2]).shape[1]
    if dim is None:
        raise ValueError(
            "`dim`, the number of embedding columns, must be given for data that do not come from a process"
        )
    changes: dict[str, Any] = {"dim": dim}
    if encoder is not None:
        changes["encoder"] = config.encoder.model_copy(update={"name": "custom", "options": {}})
    else:
        changes["encoder"] = _complete_encoder(config.encoder, pairs.x, dim)
    if loss is not None:
        name = "aninfonce" if isinstance(loss, AnInfoNCE) else "custom"
        varies = isinstance(loss, AnInfoNCE) and isinstance(loss.similarity, PerAnchor)
        options = {"concentration": "per-anchor"} if varies else {}
        changes["loss"] = config.loss.model_copy(update={"name": name, "options": options})
    complete = config.model_copy(update=changes)
    return complete.model_copy(update=_space(complete, own_loss=loss is not None))


def _space(config: TrainingConfig, *, own_loss: bool) -> dict[str, Any]:
    """Set what flat space requires of the loss, and resolve "auto" where there is nothing to decide."""
    space = config.space
    if space == "auto" and config.loss.name != "aninfonce":
        # What moves in Rᵈ is no linear map on a sphere.
        return {"space": "flat" if config.loss.name == "linear-dynamics" else "sphere"}
    several = config.loss.options.get("kinds", 1) > 1
    if several and space not in ("flat", "auto"):
        raise ValueError(f"`space` must be 'flat' or 'auto' for several kinds of pairs, got {space!r}")
    decided = config.recipe.unfold is None or config.dim == 1 or several or config.loss.per_anchor
    if space == "auto" and decided:
        space = "flat"
    if space == "sphere" and config.dim == 1:
        raise ValueError("`dim` must be at least 2 on the sphere, got 1")
    if space not in ("flat", "auto") or config.loss.name != "aninfonce" or own_loss:
        return {"space": space}
    # Only with a potential is an embedding in Rᵈ right for any distribution of the latents.
    options = {"potential": True, **config.loss.options}
    return {"space": space, "loss": config.loss.model_copy(update={"options": options})}


def _complete_encoder(settings: EncoderSettings, x: Tensor, dim: int) -> EncoderSettings:
    """Fill in the sizes of input and output that the data decide."""
    size = {"in_features": x.shape[1]} if x.ndim == 2 else {"in_channels": x.shape[1]}
    for name in ("head", "generator", "out_features"):
        if name in settings.options and settings.options[name] != dim:
            raise ValueError(
                f"`encoder.options` must leave out {name!r}: `space`, `seed` and `dim` decide it"
            )
    return settings.model_copy(update={"options": {**size, **settings.options, "out_features": dim}})


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


def build_loss(settings: LossSettings, dim: int, generator: Generator) -> nn.Module:
    """Build a loss for embeddings whose head has already put them where they live.

    Args:
        settings: its name and options.
        dim: d, columns of the embedding.
        generator: draws the weights of a loss that has some, such as a candidate potential.

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
