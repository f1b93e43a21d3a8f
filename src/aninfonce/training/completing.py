"""Complete the settings of a run, and check them against its data, before anything is built."""

from __future__ import annotations

from typing import Any

from torch import nn

from aninfonce.encoders.embedding import embed_in_chunks
from aninfonce.losses import AnInfoNCE
from aninfonce.processes import PairBatch
from aninfonce.recipe import Recipe
from aninfonce.similarities import PerAnchor
from aninfonce.sources.base import PairSource
from aninfonce.training.config import TrainingConfig
from aninfonce.training.model import complete_encoder


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
        changes["encoder"] = complete_encoder(config.encoder, pairs.x, dim)
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
