"""Learning rates and batch sizes as functions of the step."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.optim import Optimizer

from aninfonce.recipe import Recipe


def rate_factor(step: int, recipe: Recipe) -> float:
    """Share of the full rates at a step: linear warm-up, then the decay to zero at the end.

    Example:
        >>> recipe = Recipe(steps=100, warmup=10)
        >>> [round(rate_factor(step, recipe), 3) for step in (0, 50, 99)]
        [0.1, 0.5, 0.01]

    """
    warm = min(1.0, (step + 1) / recipe.warmup) if recipe.warmup else 1.0
    done = step / recipe.steps
    decay = {"none": 1.0, "linear": 1 - done, "cosine": 0.5 * (1 + math.cos(math.pi * done))}
    return warm * decay[recipe.decay]


def set_rates(optimizers: list[Optimizer], step: int, recipe: Recipe) -> None:
    """Give every group its rate for this step."""
    factor = rate_factor(step, recipe)
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"] * factor


def descend(optimizers: list[Optimizer], loss: Tensor, step: int, recipe: Recipe) -> None:
    """Take one step down the gradient of a loss, at the rates of this step."""
    torch.autograd.backward(loss)
    set_rates(optimizers, step, recipe)
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()


def batch_size_at(step: int, recipe: Recipe) -> int:
    """Pairs per batch at a step.

    Example:
        >>> recipe = Recipe(steps=100, batch_size=512, growth=((0.5, 1024),))
        >>> batch_size_at(49, recipe), batch_size_at(50, recipe)
        (512, 1024)

    """
    size = recipe.batch_size
    for share, larger in recipe.growth:
        if step >= share * recipe.steps:
            size = larger
    return size
