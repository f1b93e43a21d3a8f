"""Which optimiser moves which parameter, and how the rates run over the steps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.optim import Adam, Optimizer

from aninfonce.training.config import Recipe
from aninfonce.training.lars import Lars
from aninfonce.training.muon import Muon


def hidden_matrices(encoder: nn.Module) -> list[Tensor]:
    """List the weights between hidden layers: all matrices and kernels but the first and the last.

    Example:
        >>> net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
        >>> [tuple(weight.shape) for weight in hidden_matrices(net)]
        [(8, 8)]

    Args:
        encoder: any module; the order is that in which its layers were registered.

    Returns:
        The parameters that `Muon` is made for.

    """
    layers = [m for m in encoder.modules() if isinstance(m, nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d)]
    return [layer.weight for layer in layers[1:-1] if layer.weight.requires_grad]


def build_optimizers(encoder: nn.Module, loss: nn.Module, recipe: Recipe) -> list[Optimizer]:
    """Muon for hidden matrices, Adam for the rest of the encoder and, at a rate of its own, for the loss.

    With the optimiser "lars", LARS for all of the encoder.

    Args:
        encoder: whose weights are trained.
        loss: whose parameters (Λ̂, a temperature, potentials) are trained.
        recipe: rates and momenta.

    Returns:
        One or two optimisers; each group holds its undecayed rate as `initial_lr`.

    """
    matrices = hidden_matrices(encoder) if recipe.optimizer == "muon" else []
    scaled = [p for p in encoder.parameters() if p.requires_grad] if recipe.optimizer == "lars" else []
    taken = {id(parameter) for parameter in [*matrices, *scaled]}
    rest = [p for p in encoder.parameters() if p.requires_grad and id(p) not in taken]
    groups = [
        {"params": parameters, "lr": rate}
        for parameters, rate in (
            (rest, recipe.adam_lr),
            ([p for p in loss.parameters() if p.requires_grad], recipe.concentration_lr),
        )
        if parameters
    ]
    optimizers: list[Optimizer] = []
    if groups:
        optimizers.append(Adam(groups, betas=recipe.adam_betas, fused=_can_fuse(rest)))
    if matrices:
        muon = Muon(
            matrices,
            recipe.muon_lr,
            momentum=recipe.muon_momentum,
            iterations=recipe.muon_iterations,
            refresh=recipe.muon_refresh,
        )
        optimizers.append(muon)
    if scaled:
        optimizers.append(Lars(scaled, recipe.lars_lr, weight_decay=recipe.lars_decay))
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["initial_lr"] = group["lr"]
    return optimizers


def _can_fuse(parameters: Sequence[Tensor]) -> bool:
    return all(p.device.type in ("cpu", "cuda") and torch.is_floating_point(p) for p in parameters)


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
    """Go one step down the gradient of a loss, at the rates of this step."""
    torch.autograd.backward(loss)
    set_rates(optimizers, step, recipe)
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()


def batch_size_at(step: int, recipe: Recipe) -> int:
    """Pairs a batch at a step.

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
