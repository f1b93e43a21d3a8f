"""The phases of a run: first Rᵈ, then the sphere if the latents live on one, and at last the closing fits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from aninfonce.alignment.closing import close
from aninfonce.alignment.closing_flat import close_flat
from aninfonce.alignment.map_to_sphere import map_to_sphere
from aninfonce.alignment.modes import linear_modes
from aninfonce.alignment.space_choice import choose_space
from aninfonce.encoders.embedding import Embedding, embed_in_chunks
from aninfonce.losses import AnInfoNCE, LinearDynamics
from aninfonce.similarities import LinearStep

if TYPE_CHECKING:
    from aninfonce.processes import PairBatch
    from aninfonce.training.loop import Trainer

# Bootstrap draws that tell what turns, before the first step.
_STARTING_DRAWS = 100


@torch.no_grad()
def start_dynamics(embedding: Embedding, loss: LinearDynamics, pairs: PairBatch) -> None:
    """Start the M of a loss, in place, from what turns in an untrained encoder's embedding of some pairs."""
    h, h_pos = (embed_in_chunks(embedding, x).double().cpu().numpy() for x in (pairs.x, pairs.x_pos))
    if len(h) <= h.shape[1] + 1:
        return
    operator, offset = linear_modes(h, h_pos, draws=_STARTING_DRAWS).first_step()
    assert isinstance(loss.similarity, LinearStep)
    loss.similarity.operator.copy_(torch.from_numpy(operator))
    loss.similarity.offset.copy_(torch.from_numpy(offset))


def is_due_on_sphere(trainer: Trainer) -> bool:
    """Tell whether the embedding is to be mapped to a sphere before the next step."""
    unfold = trainer.recipe.unfold if trainer.config.unfolds else None
    if unfold is None:
        return False
    if not trainer.spherical:
        due = trainer.step >= int(unfold.share * trainer.recipe.steps)
        return due and _belongs_on_sphere(trainer)
    return trainer.step in {int(share * trainer.recipe.steps) for share in unfold.again}


def goes_on_after_phase(trainer: Trainer) -> bool:
    """Tell whether a run goes on once its score has stopped rising: yes, shortened, if the sphere is next."""
    unfold = trainer.recipe.unfold if trainer.config.unfolds else None
    if unfold is None or trainer.spherical or not _belongs_on_sphere(trainer):
        return False
    steps = min(trainer.recipe.steps, math.ceil(trainer.step / unfold.share))
    trainer.recipe = trainer.recipe.model_copy(update={"steps": steps})
    return True


def _belongs_on_sphere(trainer: Trainer) -> bool:
    """Look once at the shape of the embedding, if the space is to be found."""
    if trainer.config.space != "auto":
        return True
    if trainer.choice is None:
        unfold = trainer.recipe.unfold
        assert unfold is not None
        with trainer.watch("fits"):
            x = trainer.source.fresh(unfold.pairs).x.to(trainer.fabric.device)
            # The first process decides for all: their rows may differ.
            trainer.choice = trainer.fabric.broadcast(choose_space(embed_in_chunks(trainer.embedding, x)))
    return trainer.choice.space == "sphere"


def put_on_sphere(trainer: Trainer) -> None:
    """Map the embedding to a round sphere, from Rᵈ or from one that is no longer round."""
    unfold = trainer.config.recipe.unfold
    assert unfold is not None
    assert trainer.last is not None
    assert isinstance(trainer.loss, AnInfoNCE)
    flat = not trainer.spherical
    if flat and trainer.stopping is not None:
        trainer.stopping.restore(trainer)
    with trainer.watch("fits"):
        x = trainer.source.fresh(unfold.pairs).x.to(trainer.fabric.device)
        changed = map_to_sphere(trainer.embedding, trainer.last, trainer.loss, x)
        _share_fitted(trainer)
        # Their moments belong to another parametrisation now.
        for parameter in changed:
            for optimizer in trainer.optimizers:
                optimizer.state.pop(parameter, None)
    trainer.spherical = True
    if flat and trainer.stopping is not None:
        trainer.stopping.start_phase(trainer)


def fit_closing(trainer: Trainer) -> None:
    """Find the axes and Λ̂ of the frozen embedding, by the fits for its space."""
    settings = trainer.config.recipe.close
    assert settings is not None
    assert trainer.last is not None
    with trainer.watch("fits"):
        if trainer.space == "sphere":
            assert isinstance(trainer.loss, AnInfoNCE)
            generator = trainer.closing_generator
            found = close(trainer.embedding, trainer.last, trainer.loss, trainer.source, settings, generator)
            trainer.folding = found.folding
        else:
            close_flat(trainer.embedding, trainer.last, trainer.loss, trainer.source, settings)
        _share_fitted(trainer)


@torch.no_grad()
def _share_fitted(trainer: Trainer) -> None:
    """Let all processes have the first one's values, whatever their own fits found."""
    if trainer.fabric.world_size > 1:
        assert trainer.last is not None
        of_loss = (*trainer.loss.parameters(), *trainer.loss.buffers())
        for tensor in (trainer.last.weight, trainer.last.bias, *of_loss):
            tensor.copy_(trainer.fabric.broadcast(tensor.detach()))
